// Programs in JavaScript and other languages are not checked by a compiler: a misspelt name is an error and not ignored.
import { nearest } from './nearest.js'
import { UsageError } from './usage-error.js'

/** Throws a UsageError that says what would be right. `what` begins the message: `a fault`. */
export function refuseUnknownFields(what: string, given: unknown, names: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new UsageError(`${what} is an object with ${names.join(', ')}`)
  }
  const unknown = Object.keys(given).find(name => !names.includes(name))
  if (unknown === undefined) return
  const near = nearest(unknown, names)
  const hint = near === undefined ? `it has ${names.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`${what} has no field ${unknown}: ${hint}`)
}
