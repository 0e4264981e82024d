// How the values of rules lie in memory: as JSON. Expressions that are evaluated often read it where it is, as the views of
// rule-values.ts would.
import type { CompoundLayout, Layout, Value } from '../../cel/index.js'
import { isObject, type Value as Json } from '../../meta/values/value.js'
import { type DeclaredType, fieldOf } from './declared-types.js'
import { MergingList, RuleList } from './rule-lists.js'
import { RuleMap, RuleObject } from './rule-maps.js'
import { ruleReader } from './rule-values.js'

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
      return { kind: 'plain', read: ruleReader(declared) }
    case 'list':
      return compound(declared, kind, Array.isArray, listBehind)
    case 'map':
      return compound(declared, kind, isObject, value => (value instanceof RuleMap ? value.json : undefined))
    case 'object':
      // One that has no fields is never to be seen.
      if (declared.fields.size === 0) return { kind: 'hidden' }
      return compound(declared, kind, isObject, value => (value instanceof RuleObject ? value.json : undefined))
    default:
      // Texts that stand for something else are read once, which may take long.
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
  return list instanceof RuleList ? list.json : undefined
}
