// The version of this package, from its package.json.
import { readFileSync } from 'node:fs'

let known: string | undefined

export function packageVersion(): string {
  if (known === undefined) {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    known = (JSON.parse(text) as { version: string }).version
  }
  return known
}
