// Builds the nodes of the syntax tree, expands macros, and reports what the grammar alone does not see: reserved
// words, literals out of range, syntax that is switched off.
import { readBytes, readDouble, readInt, readString, readUint } from './literals.js'
import type { Macro, MacroBuilder } from './macros.js'
import type { Issue } from './source.js'
import {
  ACCUMULATOR,
  type CallExpr,
  type Expr,
  type LiteralValue,
  type MapEntry,
  type StructField,
} from './syntax-tree.js'

export interface SyntaxOptions {
  readonly macros: readonly Macro[]
  /** `a.?b`, `a[?k]`, `{?k: v}`. */
  readonly optionalSyntax?: boolean
  /** `` a.`b-c` ``. */
  readonly quotedIdentifiers?: boolean
}

export type LiteralKind = 'int' | 'uint' | 'double' | 'string' | 'bytes'

export class TreeBuilder {
  readonly issues: Issue[] = []
  private nextId = 1
  private readonly macros: ReadonlyMap<string, Macro>

  constructor(private readonly options: SyntaxOptions) {
    this.macros = macroTable(options.macros)
  }

  id(): number {
    return this.nextId++
  }

  error(offset: number, message: string): Expr {
    this.issues.push({ offset, message })
    return this.hole(offset)
  }

  /** Stands for a part that was reported as an error. */
  hole(offset: number): Expr {
    return { kind: 'unspecified', id: this.id(), offset }
  }

  literal(offset: number, value: LiteralValue): Expr {
    return { kind: 'literal', id: this.id(), offset, value }
  }

  readLiteral(offset: number, kind: LiteralKind, text: string, negative = false): Expr {
    const result =
      kind === 'int'
        ? readInt(text, negative)
        : kind === 'uint'
          ? readUint(text)
          : kind === 'double'
            ? readDouble(negative ? `-${text}` : text)
            : kind === 'string'
              ? readString(text)
              : readBytes(text)
    return result.ok ? this.literal(offset, result.value) : this.error(offset, result.error)
  }

  /** `start` is where a leading dot stands, if there is one. */
  ident(offset: number, name: string, leadingDot = false, start = offset): Expr {
    if (RESERVED.has(name)) return this.error(start, `reserved identifier: ${name}`)
    return { kind: 'ident', id: this.id(), offset, name: leadingDot ? `.${name}` : name }
  }

  select(offset: number, operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.id(), offset, operand, field, testOnly: false }
  }

  optionalSelect(offset: number, operand: Expr, field: string, fieldOffset: number): Expr {
    if (this.options.optionalSyntax !== true) return this.error(offset, "unsupported syntax '.?'")
    return this.call(offset, '_?._', [operand, this.literal(fieldOffset, field)])
  }

  index(offset: number, operand: Expr, index: Expr, optional: boolean): Expr {
    if (optional && this.options.optionalSyntax !== true) return this.error(offset, "unsupported syntax '[?'")
    return this.call(offset, optional ? '_[?_]' : '_[_]', [operand, index])
  }

  /** True where `?` may mark an entry or element; otherwise that is reported. */
  allowsOptional(offset: number): boolean {
    if (this.options.optionalSyntax === true) return true
    this.issues.push({ offset, message: "unsupported syntax '?'" })
    return false
  }

  /** The name in a selector, without the backticks. */
  field(offset: number, text: string, escaped: boolean): string | undefined {
    if (!escaped) return text
    if (this.options.quotedIdentifiers === true) return text.slice(1, -1)
    this.issues.push({ offset, message: "unsupported syntax: '`'" })
    return undefined
  }

  call(offset: number, name: string, args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.id(), offset, target: undefined, name, args }
  }

  /** A call as it was written, expanded if it is a macro. */
  globalCall(offset: number, name: string, args: readonly Expr[], start: number, leadingDot: boolean): Expr {
    if (RESERVED.has(name)) return this.error(start, `reserved identifier: ${name}`)
    return this.expand({
      kind: 'call',
      id: this.id(),
      offset,
      target: undefined,
      name: leadingDot ? `.${name}` : name,
      args,
    })
  }

  memberCall(offset: number, target: Expr, name: string, args: readonly Expr[]): Expr {
    return this.expand({ kind: 'call', id: this.id(), offset, target, name, args })
  }

  list(offset: number, elements: readonly Expr[], optional: readonly number[]): Expr {
    return { kind: 'list', id: this.id(), offset, elements, optional }
  }

  map(offset: number, entries: readonly MapEntry[]): Expr {
    return { kind: 'map', id: this.id(), offset, entries }
  }

  entry(offset: number, key: Expr, value: Expr, optional: boolean): MapEntry {
    return { id: this.id(), offset, key, value, optional }
  }

  struct(offset: number, typeName: string, fields: readonly StructField[]): Expr {
    return { kind: 'struct', id: this.id(), offset, typeName, fields }
  }

  structField(offset: number, name: string, value: Expr, optional: boolean): StructField {
    return { id: this.id(), offset, name, value, optional }
  }

  /** A chain of && or || as a tree that is as flat as it can be, so that long chains do not nest deep. */
  logical(name: string, terms: readonly Expr[], offsets: readonly number[]): Expr {
    const balance = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2)
      const left = middle === low ? terms[middle]! : balance(low, middle - 1)
      const right = middle === high ? terms[middle + 1]! : balance(middle + 1, high)
      return this.call(offsets[middle]!, name, [left, right])
    }
    return offsets.length === 0 ? terms[0]! : balance(0, offsets.length - 1)
  }

  private expand(call: CallExpr): Expr {
    const macro = this.macros.get(macroKey(call.name, call.target !== undefined, call.args.length))
    if (macro === undefined) return call
    const before = this.issues.length
    const expanded = macro.expand(this.macroBuilder(call.offset), call.target ?? call, call.args, call)
    if (expanded !== undefined) return expanded
    // What stands for the macro is where its error is.
    return this.issues.length > before ? this.hole(this.issues.at(-1)!.offset) : call
  }

  private macroBuilder(offset: number): MacroBuilder {
    return {
      literal: value => this.literal(offset, value),
      ident: name => ({ kind: 'ident', id: this.id(), offset, name }),
      call: (name, ...args) => this.call(offset, name, args),
      memberCall: (name, target, ...args) => ({ kind: 'call', id: this.id(), offset, target, name, args }),
      list: (...elements) => this.list(offset, elements, []),
      map: (...entries) => this.map(offset, entries),
      entry: (key, value, optional = false) => this.entry(offset, key, value, optional),
      testOnlySelect: (operand, field) => ({ kind: 'select', id: this.id(), offset, operand, field, testOnly: true }),
      comprehension: ({ accuVar = ACCUMULATOR, iterVar2, ...parts }) => ({
        kind: 'comprehension',
        id: this.id(),
        offset,
        accuVar,
        iterVar2,
        ...parts,
      }),
      shared: expr => ({ ...expr, shared: true }),
      error: (at, message) => {
        this.issues.push({ offset: at.offset, message })
        return undefined
      },
    }
  }
}

const macroKey = (name: string, receiver: boolean, args: number): string => `${name}:${args}:${receiver}`

const macroTables = new WeakMap<readonly Macro[], ReadonlyMap<string, Macro>>()

function macroTable(macros: readonly Macro[]): ReadonlyMap<string, Macro> {
  let table = macroTables.get(macros)
  if (table === undefined) {
    table = new Map(macros.map(macro => [macroKey(macro.name, macro.receiver, macro.args), macro]))
    macroTables.set(macros, table)
  }
  return table
}

/** Words that are kept for later; they may be names of fields, not of variables and functions. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop package namespace null return true var ' +
    'void while'
  ).split(' '),
)
