// A chart that is drawn again when its width changes: draw(width) gives an element.
import {h} from './dom.js';

export function chart(label, draw) {
  const holder = h('div', {class: 'chart', role: 'img', 'aria-label': label});
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width < 40 || Math.abs(width - drawn) < 2) return;
    drawn = width;
    holder.replaceChildren(draw(width));
  }).observe(holder);
  holder.redraw = () => drawn && holder.replaceChildren(draw(drawn));
  return holder;
}

// What all plots have in common.
export const style = {
  background: 'transparent',
  color: 'var(--muted)',
  fontFamily: 'inherit',
  fontSize: '12px',
  overflow: 'visible',
};

// A bar in a row of a table: from `from` to `to`, shares of the width.
export function bar(from, to, tone = 'accent') {
  const left = Math.min(from, to);
  return h('div', {class: `bar bar-${tone}`, style: {
    left: `${(100 * left).toFixed(2)}%`,
    width: `max(1px, ${(100 * Math.abs(to - from)).toFixed(2)}%)`,
  }});
}
