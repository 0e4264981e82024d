// Paths of fields as the server writes them in causes and in managedFields.
import { isObject, type Value } from '../../../src/meta/values/value.js'
import type { Path, PathPart } from './yaml-document.js'

/** `spec.cargo[0].name` and `metadata.labels[a.b/c]` as parts. Names in brackets may have quotes. */
export function parseFieldPath(text: string): Path {
  const parts: PathPart[] = []
  const pattern = /([^.[\]]+)|\[("(?:[^"\\]|\\.)*"|'[^']*'|[^\]]*)\]/g
  for (const [, name, bracketed] of text.matchAll(pattern)) {
    if (name !== undefined) parts.push(name)
    else if (bracketed !== undefined && /^\d+$/.test(bracketed)) parts.push(Number(bracketed))
    else if (bracketed !== undefined) parts.push(bracketed.replaceAll(/^["']|["']$/g, ''))
  }
  return parts
}

/** The key of a part of a FieldsV1 within the value: `f:name`, `k:{"name":"a"}`, `v:1`, `i:0`. Undefined if it is not there. */
export function resolveFieldPart(part: string, value: Value | undefined): PathPart | undefined {
  const text = part.slice(2)
  if (part.startsWith('f:')) return isObject(value) && Object.hasOwn(value, text) ? text : undefined
  if (!Array.isArray(value)) return undefined
  if (part.startsWith('i:')) return Number(text) < value.length ? Number(text) : undefined
  const wanted = parseJson(text)
  const index = value.findIndex(item =>
    part.startsWith('k:') ? hasKeys(item, wanted) : JSON.stringify(item) === JSON.stringify(wanted),
  )
  return index < 0 ? undefined : index
}

function hasKeys(item: Value, keys: unknown): boolean {
  if (!isObject(item) || typeof keys !== 'object' || keys === null) return false
  return Object.entries(keys).every(([name, value]) => item[name] === value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `.spec.cargo[name="coal"].tons`, as in conflicts of an apply, within a value. */
export function resolveConflictPath(text: string, root: Value | undefined): Path {
  const parts: PathPart[] = []
  let value = root
  for (const [, name, selector] of text.matchAll(/\.([^.[\]]+)|\[([^\]]*)\]/g)) {
    let part: PathPart | undefined = name
    if (selector !== undefined) {
      const keys = [...selector.matchAll(/([\w.-]+)=("(?:[^"\\]|\\.)*"|[^,]+)/g)].map(([, key, json]) => [
        key,
        parseJson(json!),
      ])
      part = Array.isArray(value) ? value.findIndex(item => hasKeys(item, Object.fromEntries(keys))) : -1
      if (part < 0) return parts
    }
    parts.push(part!)
    value = typeof part === 'number' ? (value as Value[])[part] : isObject(value) ? value[part!] : undefined
  }
  return parts
}
