// The version of this package, from its package.json.
import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.js'

let known: string | undefined

export function packageVersion(): string {
  if (known === undefined) {
    const text = readFileSync(packageFile('package.json'), 'utf8')
    known = (JSON.parse(text) as { version: string }).version
  }
  return known
}
