// The field validation that a request asks for. It decides which decoder reads a patch first, and so which message a
// malformed one gets.
import { malformed, type PatchError } from './patch-error.js'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export type PatchKind = 'json' | 'merge' | 'strategic'

/** For a body that is not JSON; `text` is the message of the JSON decoder. */
export function notJson(kind: PatchKind, text: string, validation: FieldValidation = 'Warn'): PatchError {
  if (kind === 'strategic') return malformed(text)
  if (validation !== 'Ignore') return undecodable(text)
  return malformed(kind === 'json' ? text : INVALID_MERGE_PATCH)
}

export const undecodable = (text: string): PatchError => malformed(`error decoding patch: ${text}`)

export const INVALID_MERGE_PATCH = 'Invalid JSON Patch'
