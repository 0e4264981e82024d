// Checks of texts: length, pattern, and (beside them) format. Of maxLength, minLength and pattern only the first that
// fails is reported.
import { compileRegex, isRegexError, matchingSteps } from '../../base/regex-cache.js'
import { fieldInvalid, fieldTooLong, fieldTypeInvalid } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import type { ValueChecks } from '../structure/structural.js'
import { spendMatching } from './effort.js'
import { findFormat } from './formats.js'
import { fieldOf, type Run, relativePath, report } from './run.js'

export type TextCheck = (run: Run, text: string) => void

/** Undefined where every text will do. */
export function textCheck({ maxLength, minLength, pattern, format }: ValueChecks): TextCheck | undefined {
  const holds = format === '' ? undefined : findFormat(format)
  if (maxLength === undefined && minLength === undefined && pattern === '' && holds === undefined) return undefined
  return (run, text) => {
    checkContent(run, text, maxLength, minLength, pattern)
    if (holds === undefined || holds(text)) return
    const path = relativePath(run)
    report(run, fieldTypeInvalid(fieldOf(run, path), text, `${path} in body must be of type ${format}: ${quote(text)}`))
  }
}

function checkContent(
  run: Run,
  text: string,
  maxLength: number | undefined,
  minLength: number | undefined,
  pattern: string,
): void {
  // Characters are counted only where the number of units leaves a doubt.
  if (maxLength !== undefined && text.length > maxLength && characterCount(text) > maxLength) {
    return report(run, fieldTooLong(fieldOf(run, relativePath(run)), maxLength))
  }
  if (minLength !== undefined && characterCount(text) < minLength) {
    const path = relativePath(run)
    const why = `${path} in body should be at least ${minLength} chars long`
    return report(run, fieldInvalid(fieldOf(run, path), text, why))
  }
  if (pattern === '') return
  const compiled = compileRegex(pattern)
  if (!isRegexError(compiled)) {
    spendMatching(run.effort, matchingSteps(compiled, text))
    if (compiled.test(text)) return
  }
  const path = relativePath(run)
  report(run, fieldInvalid(fieldOf(run, path), text, `${path} in body should match '${pattern}'`))
}

function characterCount(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++, count++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++
  }
  return count
}
