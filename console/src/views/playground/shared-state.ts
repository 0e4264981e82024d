// The state of the playground in a link. It is in the fragment of the address, which is sent to no server, and compressed,
// because it has whole objects in it.

export interface PlaygroundState {
  readonly environment: 'rule' | 'policy'
  readonly expression: string
  /** `widgets.example.com/v1`; empty for values without a declared type. */
  readonly schema: string
  readonly path: string
  readonly object: string
  readonly oldObject: string
  readonly params: string
  readonly request: string
  /** `name: expression` of the variables of a policy, as YAML. */
  readonly variables: string
}

export const EMPTY: PlaygroundState = {
  environment: 'rule',
  expression: '',
  schema: '',
  path: '',
  object: '',
  oldObject: '',
  params: '',
  request: '',
  variables: '',
}

export async function encodeState(state: PlaygroundState): Promise<string> {
  const filled = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== ''))
  const bytes = await through(new TextEncoder().encode(JSON.stringify(filled)), new CompressionStream('deflate-raw'))
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Undefined if the text is no state: a link may have been cut off. */
export async function decodeState(text: string): Promise<PlaygroundState | undefined> {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), each => each.charCodeAt(0))
    const json = new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')))
    const given = JSON.parse(json) as Record<string, unknown>
    const read = Object.keys(EMPTY).map(name => [name, typeof given[name] === 'string' ? given[name] : ''])
    const state = Object.fromEntries(read) as unknown as PlaygroundState
    return { ...state, environment: state.environment === 'policy' ? 'policy' : 'rule' }
  } catch {
    return undefined
  }
}

/** More than any example needs; a link that grows beyond it is not read further. */
const MAX_BYTES = 4 * 1024 * 1024

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    size += value.length
    if (size > MAX_BYTES) throw new Error('the state is too large')
    parts.push(value)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
