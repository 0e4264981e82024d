// Deep links: the address is the state of a view. Views read `route`, and change it with `navigate` and `setQuery`.
import { computed, signal } from '@preact/signals'
import { hasUnsaved, leave } from './state/unsaved.js'

export const BASE = '/console'

interface Location {
  readonly path: string
  readonly search: string
}

const readLocation = (): Location => ({
  path: location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) || '/' : '/',
  search: location.search,
})

const current = signal<Location>(readLocation())

/** The path below `/console`, with a leading slash. */
export const path = computed(() => current.value.path)
export const query = computed(() => new URLSearchParams(current.value.search))

/** One parameter of the query; '' if it is absent. */
export const parameter = (name: string): string => query.value.get(name) ?? ''

/** Where this entry is among those of the history: tells a step back from a step forward. */
let position = 0

export function startRouter(): void {
  position = positionIn(history.state) ?? 0
  history.replaceState({ position }, '')
  let isReturning = false
  addEventListener('popstate', event => {
    const [next, to] = [readLocation(), positionIn(event.state)]
    if (to === undefined) {
      // A link to a fragment made a new entry.
      history.replaceState({ position: ++position }, '')
    } else if (isReturning) {
      isReturning = false
      return
    } else if (next.path !== current.peek().path && hasUnsaved()) {
      // The browser has moved already: it goes back to the view, which then asks.
      const steps = to - position
      isReturning = true
      history.go(-steps)
      leave(() => history.go(steps))
      return
    } else position = to
    current.value = next
  })
}

const positionIn = (state: unknown): number | undefined => (state as { position?: number } | null)?.position

/** Goes to a view. With `replace`, the back button does not return to this one. Asks first if changes would be lost. */
export function navigate(to: string, { replace = false } = {}): void {
  const address = BASE + to
  if (address === location.pathname + location.search) return
  const go = (): void => {
    if (!replace) position++
    history[replace ? 'replaceState' : 'pushState']({ position }, '', address)
    current.value = readLocation()
  }
  if (to.split('?')[0] === current.peek().path) go()
  else leave(go)
}

/** Changes the fragment, which no view follows, without a new entry in the history. */
export const setFragment = (fragment: string): void =>
  history.replaceState({ position }, '', location.pathname + location.search + fragment)

/** Changes parameters of the query; empty ones are removed. Filters replace the entry in the history: typing is no page. */
export function setQuery(changes: Readonly<Record<string, string>>, { push = false } = {}): void {
  const next = new URLSearchParams(current.peek().search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  navigate(current.peek().path + (text === '' ? '' : `?${text}`), { replace: !push })
}

export type Parameters = Readonly<Record<string, string>>

/** Matches `/r/:group/:version/:resource`; undefined if the path is another one. */
export function matchPath(pattern: string, actual: string): Parameters | undefined {
  const wanted = pattern.split('/').filter(Boolean)
  const given = actual.split('/').filter(Boolean)
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const text = decode(given[index]!)
    if (text === undefined) return undefined
    if (part.startsWith(':')) found[part.slice(1)] = text
    else if (part !== text) return undefined
  }
  return found
}

/** Undefined for a path that is not encoded well, as `%zz`. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
