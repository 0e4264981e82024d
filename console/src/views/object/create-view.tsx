export function CreateView() {
  return null
}
