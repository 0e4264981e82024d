// Limits how many errors a validation finds and how much of them is printed. kube-apiserver has no such limits: a request
// of 2 MB with 700,000 faults makes it answer with hundreds of MB.

/** After this many errors a validation ends. */
export const MAX_FOUND = 1_000
/** After this many characters no further error is printed. The first one is always complete. */
export const MAX_PRINTED = 256 * 1024

class TooManyErrors extends Error {
  override readonly name = 'TooManyErrors'
}

/** The errors of the validation that runs. Validations are synchronous, so that there is only one at a time. */
let found: unknown[] | undefined

/** Every new error passes through here. */
export function countError<E>(error: E): E {
  if (found === undefined) return error
  found.push(error)
  if (found.length > MAX_FOUND) throw new TooManyErrors()
  return error
}

/** The errors of a validation. If there are too many it is ended, and those that it had found are returned. */
export function limitErrors<E>(validate: () => readonly E[]): readonly E[] {
  const outer = found
  const own: E[] = []
  found = own
  try {
    return validate()
  } catch (error) {
    if (error instanceof TooManyErrors && found === own) return own
    throw error
  } finally {
    found = outer
  }
}

/** The printed errors, up to the limit, and how many are left out. */
export function printUpToLimit<E, P>(
  errors: readonly E[],
  print: (error: E) => P,
  lengthOf: (printed: P) => number,
): { readonly printed: readonly P[]; readonly omitted: number } {
  const printed: P[] = []
  let length = 0
  for (const error of errors) {
    if (length > MAX_PRINTED) return { printed, omitted: errors.length - printed.length }
    const text = print(error)
    length += lengthOf(text)
    printed.push(text)
  }
  return { printed, omitted: 0 }
}

/** What is printed in place of errors that are left out. */
export const omittedText = (omitted: number): string => `and ${omitted} more errors, which are not shown`
