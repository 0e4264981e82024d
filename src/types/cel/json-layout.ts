// The layout of values in memory: they are JSON. Expressions that are evaluated often read it directly, with the same
// results as the views of values.ts.
import type { CompoundLayout, Layout, Value } from '../../cel/index.js'
import { isObject, type Value as Json } from '../../meta/values/value.js'
import { type DeclaredType, fieldOf } from './declared-types.js'
import { CelList, MergingList } from './lists.js'
import { CelMap, CelObject } from './objects.js'
import { celReader } from './values.js'

const layouts = new WeakMap<DeclaredType, Layout>()

export function layoutOf(declared: DeclaredType): Layout {
  let layout = layouts.get(declared)
  if (layout === undefined) {
    layout = makeLayout(declared)
    layouts.set(declared, layout)
  }
  return layout
}

function makeLayout(declared: DeclaredType): Layout {
  const { kind } = declared
  switch (kind) {
    case 'string':
    case 'int':
    case 'bool':
      return { kind }
    case 'double':
    case 'dyn':
      return { kind: 'plain', read: celReader(declared) }
    case 'list':
      return compound(declared, kind, Array.isArray, listBehind)
    case 'map':
      return compound(declared, kind, isObject, value => (value instanceof CelMap ? value.json : undefined))
    case 'object':
      // Expressions cannot see an object that has no fields.
      if (declared.fields.size === 0) return { kind: 'hidden' }
      return compound(declared, kind, isObject, value => (value instanceof CelObject ? value.json : undefined))
    default:
      // Strings that stand for something else are parsed once, because that may take long.
      return { kind: 'hidden' }
  }
}

function compound(
  declared: DeclaredType,
  kind: CompoundLayout['kind'],
  fits: (raw: Json) => boolean,
  behind: (value: Value) => unknown,
): Layout {
  return {
    kind,
    fits,
    behind,
    field(name) {
      const field = fieldOf(declared, name)
      return field && { property: field.property, layout: layoutOf(field.declared) }
    },
    element: () => layoutOf(declared.element!),
  }
}

function listBehind(value: Value): unknown {
  const list = value instanceof MergingList ? value.items : value
  return list instanceof CelList ? list.json : undefined
}
