export function ObjectView() {
  return null
}
