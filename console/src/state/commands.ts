// What can be done from here: actions that views offer, with their keys. The palette and the help list them.
import { signal } from '@preact/signals'

export interface Command {
  readonly id: string
  readonly title: string
  /** Where it is listed: `Navigate`, `Object`. */
  readonly group: string
  /** As `KeyboardEvent.key`, with `Ctrl+` before it where needed; several are alternatives. */
  readonly keys?: readonly string[]
  readonly run: () => void
  /** Why it cannot be done now. */
  readonly disabled?: string | undefined
  /** Not listed in the palette, only in the help: moving in a table for instance. */
  readonly hidden?: boolean
}

/** Sets of commands, each of one owner; later ones come first. */
const sets = signal<readonly (readonly Command[])[]>([])

export const commands = (): readonly Command[] => sets.value.flat()

/** Offers commands until the function that it returns is called. */
export function offer(list: readonly Command[]): () => void {
  sets.value = [list, ...sets.peek()]
  return () => {
    sets.value = sets.peek().filter(each => each !== list)
  }
}

/** Listens to keys for as long as the page lives. */
export function startKeys(): void {
  addEventListener('keydown', event => {
    if (event.defaultPrevented || event.isComposing) return
    const key = keyOf(event)
    // While one types, only keys with a modifier are commands.
    if (isTyping(event) && !key.startsWith('Ctrl+')) return
    if (document.querySelector('dialog[open]') !== null) return
    const found = commands().find(each => each.keys?.includes(key))
    if (found === undefined || found.disabled !== undefined) return
    event.preventDefault()
    found.run()
  })
}

export function keyOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string {
  if (event.altKey) return `Alt+${event.key}`
  return event.ctrlKey || event.metaKey ? `Ctrl+${event.key.toLowerCase()}` : event.key
}

/** In a shadow root the event's target is its host, so the path is asked. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}
