// Which types are assignable to which, and what type parameters are bound to. Trying an overload may bind parameters;
// the bindings of a failed trial are undone.
import { type CelType, DYN, isDyn, isDynOrError, NULL, sameType } from './cel-type.js'

export class Substitution {
  private readonly bound = new Map<string, CelType>()
  /** What each binding replaced, so that a trial can be undone. */
  private readonly trail: [name: string, before: CelType | undefined][] = []
  private fresh = 0

  /** A parameter that is not bound yet. */
  freshParam(): CelType {
    return { kind: 'param', name: `_var${this.fresh++}`, params: [] }
  }

  /** True if values of the second type may be used where the first is expected; binds parameters on the way. */
  assign(expected: CelType, actual: CelType): boolean {
    return this.trial(() => this.assignable(expected, actual))
  }

  assignAll(expected: readonly CelType[], actual: readonly CelType[]): boolean {
    return this.trial(() => this.allAssignable(expected, actual))
  }

  /** The type with bound parameters replaced; those that are free become dyn if `freeToDyn`. */
  apply(type: CelType, freeToDyn = false): CelType {
    if (type.kind === 'param') {
      const target = this.bound.get(type.name)
      if (target !== undefined) return this.apply(target, freeToDyn)
      return freeToDyn ? DYN : type
    }
    if (type.params.length === 0) return type
    let changed = false
    const params = type.params.map(param => {
      const applied = this.apply(param, freeToDyn)
      if (applied !== param) changed = true
      return applied
    })
    return changed ? { ...type, params } : type
  }

  private trial(attempt: () => boolean): boolean {
    const mark = this.trail.length
    if (attempt()) return true
    while (this.trail.length > mark) {
      const [name, before] = this.trail.pop()!
      if (before === undefined) this.bound.delete(name)
      else this.bound.set(name, before)
    }
    return false
  }

  private bind(param: CelType, type: CelType): void {
    this.trail.push([param.name, this.bound.get(param.name)])
    this.bound.set(param.name, type)
  }

  private allAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, i) => this.assignable(type, b[i]!))
  }

  private assignable(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const { valid, known } = this.stands(a, b)
      if (valid) return true
      if (known) return false
    }
    if (a.kind === 'param') return this.stands(b, a).valid
    if (isDynOrError(a) || isDynOrError(b)) return true
    if (a.kind === 'null') return acceptsNull(b)
    if (b.kind === 'null') return acceptsNull(a)
    if (a.kind !== b.kind) return false
    switch (a.kind) {
      case 'type':
        return true
      case 'list':
      case 'map':
      case 'opaque':
      case 'object':
        return a.name === b.name && this.allAssignable(a.params, b.params)
      default:
        return true
    }
  }

  /** Whether a type may stand for a parameter, and whether the parameter already stood for something. */
  private stands(type: CelType, param: CelType): { valid: boolean; known: boolean } {
    if (type.kind === 'param' && type.name === param.name) return { valid: true, known: true }
    const bound = this.bound.get(param.name)
    if (bound !== undefined) {
      if (sameType(type, bound)) return { valid: true, known: true }
      if (!this.assignable(type, bound)) return { valid: false, known: true }
      const general = maxGeneral(type, bound)
      if (!this.occurs(param, general)) this.bind(param, general)
      return { valid: true, known: true }
    }
    if (this.occurs(param, type)) return { valid: false, known: false }
    this.bind(param, type)
    return { valid: true, known: false }
  }

  private occurs(param: CelType, within: CelType): boolean {
    if (within.kind === 'param') {
      if (within.name === param.name) return true
      const bound = this.bound.get(within.name)
      return bound !== undefined && this.occurs(param, bound)
    }
    return within.params.some(part => this.occurs(param, part))
  }
}

/** Of two types that go together the one that also takes the other's values. */
export const maxGeneral = (a: CelType, b: CelType): CelType => (isAsGeneral(a, b) ? a : b)

function isAsGeneral(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true
  if (isDyn(b) || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((param, i) => isAsGeneral(param, b.params[i]!))
      )
    case 'type':
      return true
    default:
      return sameType(a, b)
  }
}

/** Objects, opaque types and points in time take null, from the times of protobuf messages. */
function acceptsNull(type: CelType): boolean {
  switch (type.kind) {
    case 'null':
    case 'object':
    case 'opaque':
    case 'timestamp':
    case 'duration':
    case 'any':
      return true
    default:
      return type.nullable === true || type === NULL
  }
}
