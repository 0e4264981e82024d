// Compiles rules, each once for all types that are equal to it: when its definition is checked, when it is first used,
// and for every version that has it. One compiler belongs to a server. It holds no program that is not in use
// elsewhere.
import { createHash } from 'node:crypto'
import type { Program } from '../../cel/index.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { DeclaredType } from '../../types/cel-types.js'
import type { Rule } from '../structure/structural.js'
import type { RuleMetrics } from './rule-metrics.js'
import type { RuleNode } from './rule-node.js'

/** What the compiler needs to know of a compiled rule. */
interface Compiled {
  readonly rule: Rule
  /** Left out where the rule has errors. */
  readonly program?: Program
  readonly messageError?: string
}

export class RuleCompiler {
  /** `metrics`: absent where nothing is counted. */
  constructor(readonly metrics?: RuleMetrics) {}

  /** By the schema as it was written. */
  private readonly prepared = new WeakMap<ValueObject, RuleNode>()

  /** Keeps rules that were compiled before the check of their schema. */
  keepPrepared(written: ValueObject, rules: RuleNode): void {
    this.prepared.set(written, rules)
  }

  /** They are for one check: the schema may be changed after it. */
  takePrepared(written: Value): RuleNode | undefined {
    if (!isObject(written)) return undefined
    const rules = this.prepared.get(written)
    this.prepared.delete(written)
    return rules
  }

  private readonly programs = new Map<string, WeakRef<Program>>()
  private readonly rules = new WeakMap<Program, Compiled>()
  private readonly fingerprints = new WeakMap<DeclaredType, string>()
  private readonly dropped = new FinalizationRegistry((key: string) => {
    if (this.programs.get(key)?.deref() === undefined) this.programs.delete(key)
  })

  /** The rule as it was compiled for a type equal to this one, or as `compile` compiles it now. */
  compile<T extends Compiled>(rule: Rule, declared: DeclaredType, compile: () => T): T {
    const { rule: text, messageExpression, optionalOldSelf = false } = rule
    const key = JSON.stringify([this.fingerprint(declared), text, messageExpression, optionalOldSelf])
    const program = this.programs.get(key)?.deref()
    const known = program && this.rules.get(program)
    if (known !== undefined) return { ...(known as T), rule }
    const begin = performance.now()
    const compiled = compile()
    this.metrics?.compiled((performance.now() - begin) / 1000)
    // Messages of errors name the types of this node, so a rule with errors is not shared.
    if (compiled.program !== undefined && compiled.messageError === undefined) {
      this.programs.set(key, new WeakRef(compiled.program))
      this.rules.set(compiled.program, compiled)
      this.dropped.register(compiled.program, key)
    }
    return compiled
  }

  /** All of a type that matters to expressions over it and to their cost, hashed. */
  private fingerprint(declared: DeclaredType): string {
    let found = this.fingerprints.get(declared)
    if (found === undefined) {
      const { kind, maxSize, element, fields } = declared
      const members = [...fields].map(([name, field]) => [name, field.property, this.fingerprint(field.declared)])
      const all = JSON.stringify([kind, maxSize, element && this.fingerprint(element), members])
      found = all.length < 64 ? all : createHash('sha256').update(all).digest('base64')
      this.fingerprints.set(declared, found)
    }
    return found
  }
}
