// A rule is compiled once for all types that look the same to it: when its definition is checked, when it is first used,
// and for every version that has it. What is compiled is kept for as long as somebody uses it.
import { createHash } from 'node:crypto'
import type { Program } from '../../cel/index.js'
import type { Rule } from '../structure/structural.js'
import type { DeclaredType } from './declared-types.js'

const programs = new Map<string, WeakRef<Program>>()
const compiledRules = new WeakMap<Program, Compiled>()
const forgotten = new FinalizationRegistry((key: string) => {
  if (programs.get(key)?.deref() === undefined) programs.delete(key)
})

interface Compiled {
  readonly rule: Rule
  /** Left out where the rule is wrong. */
  readonly program?: Program
  readonly messageError?: string
}

/** The rule as it was compiled for a type like this one, or as it is compiled now. */
export function sharedRule<T extends Compiled>(rule: Rule, declared: DeclaredType, compile: () => T): T {
  const { rule: text, messageExpression, optionalOldSelf = false } = rule
  const key = JSON.stringify([looksOf(declared), text, messageExpression, optionalOldSelf])
  const program = programs.get(key)?.deref()
  const known = program && compiledRules.get(program)
  if (known !== undefined) return { ...(known as T), rule }
  const compiled = compile()
  // What is told of faults names the types of this very place.
  if (compiled.program !== undefined && compiled.messageError === undefined) {
    programs.set(key, new WeakRef(compiled.program))
    compiledRules.set(compiled.program, compiled)
    forgotten.register(compiled.program, key)
  }
  return compiled
}

const looks = new WeakMap<DeclaredType, string>()

/** All that matters of a type to expressions over it and to what they may cost, hashed. */
function looksOf(declared: DeclaredType): string {
  let found = looks.get(declared)
  if (found === undefined) {
    const { kind, maxSize, element, fields } = declared
    const members = [...fields].map(([name, field]) => [name, field.property, looksOf(field.declared)])
    const all = JSON.stringify([kind, maxSize, element && looksOf(element), members])
    found = all.length < 64 ? all : createHash('sha256').update(all).digest('base64')
    looks.set(declared, found)
  }
  return found
}
