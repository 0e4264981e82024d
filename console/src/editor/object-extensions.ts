// What the editor knows of a Kubernetes object: completion and hovers from the schema, problems at their lines, and who
// owns each line.
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { type Extension, RangeSet, StateEffect, StateField, type Text } from '@codemirror/state'
import { EditorView, GutterMarker, gutter, hoverTooltip } from '@codemirror/view'
import type { KindSchema, Schema } from '../api/openapi.js'
import { contextAt } from '../yaml/cursor-path.js'
import type { Manager } from '../yaml/owners.js'
import { constraints, schemaAt, typeName } from '../yaml/schema-walk.js'

export interface LineProblem {
  /** From 0. */
  readonly line: number
  readonly message: string
  readonly severity: 'error' | 'warning'
  readonly source: string
}

/** The editor's language help for a kind. `schema` is asked at each use: it may arrive late. */
export function objectExtensions(schema: () => KindSchema | undefined): Extension {
  return [
    autocompletion({ override: [context => complete(context, schema())], icons: false }),
    hoverTooltip((view, position) => hover(view, position, schema())),
    lintGutter(),
    owners,
  ]
}

export function showProblems(view: EditorView, problems: readonly LineProblem[]): void {
  const { doc } = view.state
  const diagnostics = problems.map(({ line, message, severity, source }): Diagnostic => {
    const at = doc.line(Math.min(Math.max(line + 1, 1), doc.lines))
    const start = at.from + /^\s*(?:- +)*/.exec(at.text)![0].length
    return { from: Math.min(start, at.to), to: at.to, severity, message, source }
  })
  view.dispatch(setDiagnostics(view.state, diagnostics))
}

export function showOwners(view: EditorView, byLine: ReadonlyMap<number, readonly Manager[]>): void {
  view.dispatch({ effects: setOwners.of(byLine) })
}

function linesOf(doc: Text): readonly string[] {
  return doc.toString().split('\n')
}

function complete(context: CompletionContext, schema: KindSchema | undefined): CompletionResult | null {
  if (schema === undefined) return null
  const { doc } = context.state
  const line = doc.lineAt(context.pos)
  const { path, writing, typed, from, siblings } = contextAt(linesOf(doc), line.number - 1, context.pos - line.from)
  if (!context.explicit && typed === '' && writing === 'key') return null
  const found = schemaAt(schema, path)
  if (found === undefined) return null
  const options = writing === 'key' ? keyOptions(found, schema, siblings) : valueOptions(found)
  return options.length === 0 ? null : { from: line.from + from, options, validFor: /^[\w.-]*$/ }
}

function keyOptions(parent: Schema, { resolve }: KindSchema, siblings: ReadonlySet<string>): Completion[] {
  const required = new Set(parent.required)
  return Object.entries(parent.properties ?? {})
    .filter(([name]) => !siblings.has(name))
    .map(([name, unresolved]) => {
      const schema = resolve(unresolved)
      const isNested = schema.type === 'object' || schema.type === 'array' || schema.properties !== undefined
      return {
        label: name,
        apply: `${name}:${isNested ? '' : ' '}`,
        detail: typeName(schema, resolve) + (required.has(name) ? ' · required' : ''),
        info: describe(schema),
        boost: required.has(name) ? 1 : 0,
      }
    })
}

function valueOptions(schema: Schema): Completion[] {
  const values = schema.type === 'boolean' ? [true, false] : (schema.enum ?? [])
  const all = schema.default === undefined || values.includes(schema.default) ? values : [schema.default, ...values]
  return all
    .filter(value => typeof value !== 'object')
    .map(value => ({ label: String(value), detail: value === schema.default ? 'default' : '' }))
}

const describe = (schema: Schema): string =>
  [schema.description ?? '', ...constraints(schema)].filter(Boolean).join('\n')

function hover(view: EditorView, position: number, schema: KindSchema | undefined) {
  if (schema === undefined) return null
  const { doc } = view.state
  const line = doc.lineAt(position)
  const key = /^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:'"][^#:]*):/.exec(line.text)
  if (key === null) return null
  const from = line.from + key[1]!.length
  const to = from + key[2]!.length
  if (position < from || position > to) return null
  const name = key[2]!.replaceAll(/^["']|["']$/g, '')
  const { path } = contextAt(linesOf(doc), line.number - 1, key[1]!.length)
  const found = schemaAt(schema, [...path, name])
  if (found === undefined) return null
  return { pos: from, end: to, above: true, create: () => ({ dom: hoverElement(name, found, schema) }) }
}

function hoverElement(name: string, schema: Schema, { resolve }: KindSchema): HTMLElement {
  const element = document.createElement('div')
  element.className = 'cm-schema-hover'
  const title = document.createElement('div')
  title.className = 'cm-schema-title'
  const word = document.createElement('strong')
  word.textContent = name
  title.append(word, ` ${typeName(schema, resolve)}`)
  element.append(title)
  for (const text of [schema.description ?? '', ...constraints(schema)].filter(Boolean)) {
    const paragraph = document.createElement('p')
    paragraph.textContent = text
    element.append(paragraph)
  }
  return element
}

const setOwners = StateEffect.define<ReadonlyMap<number, readonly Manager[]>>()

class OwnerMarker extends GutterMarker {
  constructor(readonly managers: readonly Manager[]) {
    super()
  }

  override eq(other: OwnerMarker): boolean {
    return JSON.stringify(other.managers) === JSON.stringify(this.managers)
  }

  override toDOM(): Node {
    const element = document.createElement('span')
    element.className = 'cm-owners'
    element.title = this.managers.map(ownerText).join('\n')
    for (const { index } of this.managers) {
      const bar = document.createElement('span')
      bar.className = `cm-owner cm-owner-${index % OWNER_COLOURS}`
      element.append(bar)
    }
    return element
  }
}

export const OWNER_COLOURS = 8

export const ownerText = ({ name, operation, subresource, time }: Manager): string =>
  `${name} · ${operation}${subresource === '' ? '' : ` of ${subresource}`}${time === undefined ? '' : ` · ${new Date(time).toLocaleString()}`}`

const ownersField = StateField.define<RangeSet<OwnerMarker>>({
  create: () => RangeSet.empty,
  update(markers, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setOwners)) continue
      const { doc } = transaction.state
      const ranges = [...effect.value]
        .filter(([line]) => line < doc.lines)
        .toSorted(([a], [b]) => a - b)
        .map(([line, managers]) => new OwnerMarker(managers).range(doc.line(line + 1).from))
      return RangeSet.of(ranges)
    }
    return markers.map(transaction.changes)
  },
})

const owners: Extension = [
  ownersField,
  gutter({ class: 'cm-owner-gutter', markers: view => view.state.field(ownersField) }),
  EditorView.theme({
    '.cm-owner-gutter': { width: '12px', paddingLeft: '3px' },
    '.cm-owners': { display: 'flex', height: '100%', gap: '1px' },
    '.cm-owner': { flex: '1', maxWidth: '4px', borderRadius: '1px' },
    ...Object.fromEntries(
      Array.from({ length: OWNER_COLOURS }, (_, index) => [
        `.cm-owner-${index}`,
        { backgroundColor: `var(--owner-${index})` },
      ]),
    ),
    '.cm-schema-hover': {
      maxWidth: '420px',
      padding: '8px 11px',
      fontFamily: 'var(--font)',
      fontSize: '12.5px',
      lineHeight: '1.45',
    },
    '.cm-schema-title': { fontFamily: 'var(--mono)', color: 'var(--text-soft)' },
    '.cm-schema-hover p': { margin: '4px 0 0', whiteSpace: 'pre-wrap' },
  }),
]
