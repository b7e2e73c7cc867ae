// An example: a remark.
import {h} from '../dom.js';

export default function render(body, data) {
  body.append(h('p', {}, data.text));
}
