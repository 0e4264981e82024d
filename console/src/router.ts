// Deep links: the address is the state of a view. Views read `route`, and change it with `navigate` and `setQuery`.
import { computed, signal } from '@preact/signals'

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

export function startRouter(): void {
  addEventListener('popstate', () => {
    current.value = readLocation()
  })
}

/** Goes to a view. With `replace`, the back button does not return to this one. */
export function navigate(to: string, { replace = false } = {}): void {
  const address = BASE + to
  if (address === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', address)
  current.value = readLocation()
}

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
