export function Browse() {
  return null
}
