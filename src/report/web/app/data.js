// The document from the page: base64 of deflated JSON. A document as plain JSON is taken as well.
export async function readDocument() {
  const packed = document.getElementById('data').textContent.trim();
  if (packed.startsWith('{')) return JSON.parse(packed);
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
}
