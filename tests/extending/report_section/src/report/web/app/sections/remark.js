// An example: a remark.
import {h} from '../dom.js';

export const title = 'A remark';

export function render(body, data) {
  body.append(h('p', {}, data.text));
}
