// Defaults that the type table holds, such as `protocol: TCP` of a port, wherever a port stands. Each type is compiled
// once into a walk that visits only the parts where there is something to fill in.
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { compiledOnce, type Type } from '../type.js'

/** Whether objects of the type may have anything to fill in. */
export const hasTableDefaults = (type: Type): boolean => walkOf(type) !== NOTHING

/** Fills in an object of the type. */
export function applyTableDefaults(type: Type, object: ValueObject): void {
  walkOf(type)(object)
}

type Walk = (value: Value) => void

const NOTHING: Walk = () => {}

/** Types that are being compiled: one that contains itself finds nothing to do in the inner one. None has defaults. */
const open = new Set<Type>()

const walkOf = compiledOnce((type: Type): Walk => {
  open.add(type)
  try {
    return compile(type)
  } finally {
    open.delete(type)
  }
})

function compile(type: Type): Walk {
  const steps: ((object: ValueObject) => void)[] = []
  for (const { name, type: memberType, default: value, go } of type.fields.values()) {
    if (value !== undefined && (go?.spec.pointer === true || (value !== 0 && value !== false && value !== ''))) {
      steps.push(object => {
        if (!Object.hasOwn(object, name) || object[name] === null) object[name] = value
      })
    }
    const inner = walkInto(memberType)
    if (inner !== NOTHING) {
      steps.push(object => {
        const member = Object.hasOwn(object, name) ? object[name] : undefined
        if (member !== undefined && member !== null) inner(member)
      })
    }
  }
  if (steps.length === 0) return NOTHING
  return value => {
    if (isObject(value)) for (const step of steps) step(value)
  }
}

function walkInto(type: Type): Walk {
  switch (type.kind) {
    case 'object':
      return open.has(type) ? NOTHING : walkOf(type)
    case 'list': {
      const item = walkInto(type.element!)
      return item === NOTHING ? NOTHING : value => (Array.isArray(value) ? value.forEach(item) : undefined)
    }
    case 'map': {
      const item = walkInto(type.element!)
      return item === NOTHING ? NOTHING : value => (isObject(value) ? Object.values(value).forEach(item) : undefined)
    }
    default:
      return NOTHING
  }
}
