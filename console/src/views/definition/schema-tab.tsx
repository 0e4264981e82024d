// The schema as a tree: types, defaults, constraints, rules and descriptions; two versions side by side.
import { useMemo, useState } from 'preact/hooks'
import { parameter, setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { Badge, EmptyState } from '../../ui/notice.js'
import { chosenVersion, type DefinitionTabProps, type DefinitionVersion, VersionPicker } from './definition.js'
import { constraintsOf, type JsonSchema, print, rowsOf, rulesOf, type SchemaRow, typeOf } from './schema-tree.js'

/** Rows are few enough to be drawn at once up to here. */
const MAX_ROWS = 1500

export function SchemaTab({ definition }: DefinitionTabProps) {
  const version = chosenVersion(definition)
  const other = definition.spec.versions.find(({ name }) => name === parameter('compare'))
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const text = parameter('q').toLowerCase()
  const isOpen = (path: string, depth: number): boolean =>
    text !== '' || opened.has(path) || (depth < 2 && !closed.has(path))
  const toggle = (path: string, depth: number): void => {
    const isNow = isOpen(path, depth)
    setOpened(known => withMember(known, path, !isNow))
    setClosed(known => withMember(known, path, isNow))
  }
  return (
    <>
      <div class="panel-head">
        <VersionPicker definition={definition} />
        <VersionPicker definition={definition} query="compare" label="beside" />
        <input
          type="search"
          aria-label="Find fields"
          placeholder="find fields"
          value={parameter('q')}
          onInput={event => setQuery({ q: event.currentTarget.value })}
        />
        <Button tone="quiet" onClick={() => setOpened(allPaths(version))}>
          Open all
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            setOpened(new Set())
            setClosed(new Set())
          }}
        >
          Close
        </Button>
      </div>
      <div class={other === undefined ? 'schemas' : 'schemas two'}>
        {[version, ...(other === undefined ? [] : [other])].map(each => (
          <Tree
            key={each.name}
            version={each}
            against={other === undefined ? undefined : each === version ? other : version}
            text={text}
            isOpen={isOpen}
            onToggle={toggle}
          />
        ))}
      </div>
    </>
  )
}

function withMember(set: ReadonlySet<string>, member: string, isIn: boolean): ReadonlySet<string> {
  const copy = new Set(set)
  if (isIn) copy.add(member)
  else copy.delete(member)
  return copy
}

const schemaOf = ({ schema }: DefinitionVersion): JsonSchema => schema?.openAPIV3Schema ?? {}

const allPaths = (version: DefinitionVersion): ReadonlySet<string> =>
  new Set(rowsOf(schemaOf(version), () => true).map(({ path }) => path))

interface TreeProps {
  readonly version: DefinitionVersion
  /** The version beside it: what differs is marked. */
  readonly against: DefinitionVersion | undefined
  readonly text: string
  readonly isOpen: (path: string, depth: number) => boolean
  readonly onToggle: (path: string, depth: number) => void
}

function Tree({ version, against, text, isOpen, onToggle }: TreeProps) {
  const root = schemaOf(version)
  const others = useMemo(
    () => against && new Map(rowsOf(schemaOf(against), () => true).map(row => [row.path, summaryOf(row)])),
    [against],
  )
  const all = rowsOf(root, isOpen)
  const rows = text === '' ? all : all.filter(row => isFound(row, text))
  const stateOf = (row: SchemaRow): string => {
    if (others === undefined) return ''
    const other = others.get(row.path)
    return other === undefined ? 'only-here' : other === summaryOf(row) ? '' : 'differs'
  }
  if (all.length === 0) return <EmptyState title={`Version ${version.name} has no schema with fields.`} />
  return (
    <section aria-label={`Schema of ${version.name}`}>
      {against !== undefined && <h2>{version.name}</h2>}
      <Rules schema={root} />
      <div class="schema-tree" role="tree" aria-label={`Fields of ${version.name}`}>
        {rows.slice(0, MAX_ROWS).map(row => (
          <Row key={row.path} row={row} state={stateOf(row)} isOpen={isOpen(row.path, row.depth)} onToggle={onToggle} />
        ))}
      </div>
      {rows.length > MAX_ROWS && <p class="muted">{rows.length - MAX_ROWS} more: close some, or find fields.</p>}
    </section>
  )
}

const isFound = ({ path, schema }: SchemaRow, text: string): boolean =>
  path.toLowerCase().includes(text) || (schema.description?.toLowerCase().includes(text) ?? false)

/** What is compared between versions: everything of the node itself. */
function summaryOf({ schema, isRequired }: SchemaRow): string {
  const { properties: _, items: __, additionalProperties: ___, description: ____, ...own } = schema
  return JSON.stringify([typeOf(schema), own, isRequired])
}

interface RowProps {
  readonly row: SchemaRow
  readonly state: string
  readonly isOpen: boolean
  readonly onToggle: TreeProps['onToggle']
}

function Row({ row, state, isOpen, onToggle }: RowProps) {
  const { path, name, depth, schema, isRequired, hasChildren } = row
  const toggle = (): void => onToggle(path, depth)
  return (
    <div
      class={`schema-row ${state}`}
      role="treeitem"
      tabIndex={0}
      aria-level={depth + 1}
      aria-expanded={hasChildren ? isOpen : undefined}
      aria-selected="false"
      title={path}
      style={{ paddingLeft: `${depth * 18}px` }}
      onKeyDown={event => {
        const moves: Readonly<Record<string, Element | null>> = {
          ArrowDown: event.currentTarget.nextElementSibling,
          ArrowUp: event.currentTarget.previousElementSibling,
        }
        const target = moves[event.key]
        if (target instanceof HTMLElement) target.focus()
        else if (
          hasChildren &&
          (event.key === 'Enter' || (event.key === 'ArrowRight' && !isOpen) || (event.key === 'ArrowLeft' && isOpen))
        )
          toggle()
        else return
        event.preventDefault()
      }}
      onClick={() => hasChildren && toggle()}
    >
      <span class={`twist${hasChildren ? '' : ' none'}${isOpen ? ' open' : ''}`}>
        <Icon name="chevron" size={12} />
      </span>
      <div class="schema-field">
        <div class="schema-line">
          <code class="field-name">{name}</code>
          <span class="field-type">{typeOf(schema)}</span>
          {isRequired && <Badge tone="warn">required</Badge>}
          {schema.default !== undefined && <Badge tone="accent">default {short(print(schema.default))}</Badge>}
          {constraintsOf(schema).map(text => (
            <span key={text} class="constraint">
              {short(text)}
            </span>
          ))}
          {state === 'only-here' && <Badge tone="good">only here</Badge>}
          {state === 'differs' && <Badge tone="warn">differs</Badge>}
        </div>
        {schema.description !== undefined && <p class="field-description">{schema.description}</p>}
        <Rules schema={schema} />
      </div>
    </div>
  )
}

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 119)}…` : text)

function Rules({ schema }: { readonly schema: JsonSchema }) {
  const rules = rulesOf(schema)
  if (rules.length === 0) return null
  return (
    <ul class="field-rules">
      {rules.map(({ rule, message }) => (
        <li key={rule}>
          <code>{rule}</code> {message !== undefined && <span class="muted">{message}</span>}
        </li>
      ))}
    </ul>
  )
}
