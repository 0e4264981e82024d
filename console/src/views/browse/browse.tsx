// The objects of a kind as a table, live.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { messageOf } from '../../api/client.js'
import { findResource, groups } from '../../api/discovery.js'
import { collectionPath, groupVersion, type Resource } from '../../api/resource.js'
import { browseLink, createLink, definitionLink, groupOf, objectLink } from '../../links.js'
import { navigate, parameter, setQuery } from '../../router.js'
import { now } from '../../state/clock.js'
import type { Command } from '../../state/commands.js'
import { rememberNamespace } from '../../state/namespace.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { DataTable } from '../../ui/data-table.js'
import { Link } from '../../ui/link.js'
import { EmptyState, Loading, Notice } from '../../ui/notice.js'
import { Suggest } from '../../ui/suggest.js'
import type { ViewProps } from '../index.js'
import './browse.css'
import { DeleteDialog, LabelDialog } from './bulk-dialogs.js'
import { useDeclaredFields } from './declared-fields.js'
import { type LiveTable, useLiveTable } from './live-table.js'
import type { Row } from './row-store.js'
import { completeFields, completeLabels, countLabels, selectableFields } from './selector-completion.js'
import { sortOf, tableColumns } from './table-columns.js'

export function Browse({ parameters }: ViewProps) {
  const { group = '', version = '', resource: name = '' } = parameters
  const resource = findResource(groupOf(group), version, name)
  if (groups.value === undefined) return <Loading />
  if (resource === undefined) {
    return (
      <EmptyState title={`The server has no ${name} in ${group}/${version}.`}>
        <p>The view shows them as soon as the kind is defined.</p>
      </EmptyState>
    )
  }
  return <ResourceTable resource={resource} />
}

/** The row that was active when a table was left, so that the back button returns to it. */
const lastActive = new Map<string, string>()

type OpenDialog = 'delete' | 'label' | undefined

function ResourceTable({ resource }: { readonly resource: Resource }) {
  const namespace = resource.namespaced ? parameter('namespace') : ''
  const text = parameter('q')
  const labels = parameter('labels')
  const fields = parameter('fields')
  const wide = parameter('wide') !== ''
  const path = collectionPath(resource, namespace)
  const live = useLiveTable(path, labels, fields)
  const [activeKey, setActiveKey] = useState(lastActive.get(path) ?? '')
  /** As the state, but known at once: keys may come faster than the page is drawn. */
  const latestKey = useRef(activeKey)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [dialog, setDialog] = useState<OpenDialog>(undefined)

  useEffect(() => {
    document.title = `${resource.kind} · Binnacle`
  }, [resource])
  useEffect(() => {
    if (resource.namespaced) rememberNamespace(namespace)
    setSelected(new Set())
  }, [path])

  const sort = sortOf(parameter('sort'), live.store.columns())
  const rows = live.store.view(text, sort)
  const index = rows.findIndex(({ key }) => key === activeKey)
  const columns = useMemo(
    () => tableColumns(live.store, resource, { namespaced: resource.namespaced && namespace === '', wide }),
    // Widths are made of the first rows; they stay as they are while events arrive.
    [live.store, live.store.columns(), live.store.size() > 0, resource, namespace, wide],
  )
  const activate = (row: Row | undefined): void => {
    if (row === undefined) return
    setActiveKey(row.key)
    latestKey.current = row.key
    lastActive.set(path, row.key)
  }
  const open = (row: Row | undefined, tab = ''): void => {
    if (row === undefined) return
    activate(row)
    navigate(objectLink(resource, row.namespace, row.name, { tab }))
  }
  const toggle = (row: Row | undefined, range: boolean): void => {
    if (row === undefined) return
    const from = latestIndex()
    const to = rows.indexOf(row)
    setSelected(before => {
      const next = new Set(before)
      if (range && from >= 0) {
        for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each.key)
      } else if (!next.delete(row.key)) next.add(row.key)
      return next
    })
    activate(row)
  }
  /** What an action is for: the selected rows, or else the active one. */
  const chosen = rows.filter(({ key }) => (selected.size > 0 ? selected.has(key) : key === activeKey))

  const access = { group: resource.group, resource: resource.name, namespace }
  const nothing = chosen.length === 0 ? 'Select a row first.' : undefined
  const refused = {
    create: refusal({ ...access, verb: 'create' }),
    delete: nothing ?? refusal({ ...access, verb: 'delete' }),
    label: nothing ?? refusal({ ...access, verb: 'patch' }),
  }
  const create = (): void => navigate(createLink(resource, namespace))
  const latestIndex = (): number => rows.findIndex(({ key }) => key === latestKey.current)
  const latestRow = (): Row | undefined => rows[latestIndex()]
  const move = (by: number): void => activate(rows[Math.max(0, Math.min(rows.length - 1, latestIndex() + by))])
  const tableKeys: readonly Command[] = [
    { id: 'down', title: 'Next row', group: 'Table', keys: ['j', 'ArrowDown'], hidden: true, run: () => move(1) },
    { id: 'up', title: 'Previous row', group: 'Table', keys: ['k', 'ArrowUp'], hidden: true, run: () => move(-1) },
    {
      id: 'page-down',
      title: 'A page down',
      group: 'Table',
      keys: ['PageDown', 'Ctrl+f'],
      hidden: true,
      run: () => move(20),
    },
    {
      id: 'page-up',
      title: 'A page up',
      group: 'Table',
      keys: ['PageUp', 'Ctrl+b'],
      hidden: true,
      run: () => move(-20),
    },
    {
      id: 'first',
      title: 'First row',
      group: 'Table',
      keys: ['g', 'Home'],
      hidden: true,
      run: () => activate(rows[0]),
    },
    {
      id: 'last',
      title: 'Last row',
      group: 'Table',
      keys: ['G', 'End'],
      hidden: true,
      run: () => activate(rows.at(-1)),
    },
    {
      id: 'open',
      title: 'Open the object',
      group: 'Table',
      keys: ['Enter', 'd'],
      hidden: true,
      run: () => open(latestRow()),
    },
    {
      id: 'edit',
      title: 'Edit the object',
      group: 'Table',
      keys: ['e', 'y'],
      disabled: nothing,
      run: () => open(latestRow(), 'yaml'),
    },
    {
      id: 'select',
      title: 'Select the row',
      group: 'Table',
      keys: [' '],
      hidden: true,
      run: () => toggle(latestRow(), false),
    },
    { id: 'filter', title: 'Filter by text', group: 'Table', keys: ['/'], hidden: true, run: () => focusOn('filter') },
    { id: 'namespace', title: 'Choose the namespace', group: 'Table', keys: ['n'], run: () => focusOn('namespace') },
    {
      id: 'wide',
      title: wide ? 'Fewer columns' : 'More columns',
      group: 'Table',
      keys: ['w'],
      run: () => setQuery({ wide: wide ? '' : '1' }),
    },
    {
      id: 'create',
      title: `Create a ${resource.kind}`,
      group: 'Objects',
      keys: ['c'],
      disabled: refused.create,
      run: create,
    },
    {
      id: 'delete',
      title: 'Delete the selected',
      group: 'Objects',
      keys: ['Delete', 'Ctrl+d'],
      disabled: refused.delete,
      run: () => setDialog('delete'),
    },
    {
      id: 'label',
      title: 'Label the selected',
      group: 'Objects',
      keys: ['l'],
      disabled: refused.label,
      run: () => setDialog('label'),
    },
    {
      id: 'back',
      title: 'Clear the selection, then the filters',
      group: 'Table',
      keys: ['Escape'],
      hidden: true,
      run: () => (selected.size > 0 ? setSelected(new Set()) : setQuery({ q: '', labels: '', fields: '' })),
    },
  ]
  useCommands(tableKeys, [
    rows,
    activeKey,
    selected,
    wide,
    resource,
    namespace,
    refused.create,
    refused.delete,
    refused.label,
  ])

  const orderBy = (id: string): void => {
    const current = parameter('sort') || columns[0]?.id
    setQuery({ sort: current === id ? `-${id}` : id })
  }
  const sorted = parameter('sort') || columns[0]?.id || ''
  const objects = chosen.map(row => ({ namespace: row.namespace, name: row.name, uid: row.metadata.uid }))
  return (
    <div class="browse">
      <header class="browse-head">
        <h1>{resource.kind}</h1>
        <Versions resource={resource} />
        <LiveState live={live} shown={rows.length} />
        <div class="browse-actions">
          {selected.size > 0 && <span class="muted">{selected.size} selected</span>}
          <Button icon="tag" refused={refused.label} keys="l" label="Label" onClick={() => setDialog('label')}>
            Label
          </Button>
          <Button
            icon="trash"
            refused={refused.delete}
            tone="danger"
            keys="Delete"
            label="Delete"
            onClick={() => setDialog('delete')}
          >
            Delete
          </Button>
          <Button icon="plus" tone="primary" refused={refused.create} keys="c" label="Create" onClick={create}>
            Create
          </Button>
        </div>
      </header>
      <Filters resource={resource} live={live} wide={wide} />
      {live.state.phase === 'failed' && (
        <div class="browse-notice">
          <Notice tone="error">{messageOf(live.state.error)}</Notice>
        </div>
      )}
      {rows.length === 0 && live.state.phase !== 'failed' ? (
        <Nothing
          live={live}
          isFiltered={text !== '' || labels !== '' || fields !== ''}
          resource={resource}
          namespace={namespace}
        />
      ) : (
        <DataTable
          label={`${resource.kind} objects`}
          columns={columns}
          rows={rows}
          keyOf={row => row.key}
          versionOf={row => row.metadata}
          sort={{ column: sorted.replace(/^-/, ''), descending: sorted.startsWith('-') }}
          onSort={orderBy}
          active={index}
          onActive={at => activate(rows[at])}
          onOpen={open}
          selected={selected}
          onSelect={(row, { range }) => toggle(row, range)}
          onSelectAll={() =>
            setSelected(selected.size >= rows.length ? new Set() : new Set(rows.map(({ key }) => key)))
          }
          rowClass={({ metadata, changedAt }) =>
            `${metadata.deletionTimestamp === undefined ? '' : 'deleting'}${now.value - changedAt < FRESH_MS ? ' fresh' : ''}`
          }
        />
      )}
      {dialog === 'delete' && (
        <DeleteDialog
          resource={resource}
          objects={objects}
          onClose={() => setDialog(undefined)}
          onDone={() => setSelected(new Set())}
        />
      )}
      {dialog === 'label' && <LabelDialog resource={resource} objects={objects} onClose={() => setDialog(undefined)} />}
    </div>
  )
}

/** A change is marked for this long. */
const FRESH_MS = 1500

const focusOn = (id: string): void => document.querySelector<HTMLInputElement>(`#${id}`)?.focus()

function Versions({ resource }: { readonly resource: Resource }) {
  const isCustom = resource.group.includes('.') && !resource.group.endsWith('.k8s.io')
  return (
    <span class="browse-versions">
      {resource.versions.length > 1 ? (
        <select
          aria-label="Version"
          value={resource.version}
          onChange={event =>
            navigate(
              browseLink({ ...resource, version: event.currentTarget.value }, { namespace: parameter('namespace') }),
            )
          }
        >
          {resource.versions.map(version => (
            <option key={version} value={version}>
              {groupVersion({ group: resource.group, version })}
            </option>
          ))}
        </select>
      ) : (
        <span class="muted mono">{groupVersion(resource)}</span>
      )}
      {isCustom && <Link to={definitionLink(`${resource.name}.${resource.group}`)}>definition</Link>}
    </span>
  )
}

function LiveState({ live, shown }: { readonly live: LiveTable; readonly shown: number }) {
  const { phase } = live.state
  const total = live.store.size() + live.remaining
  const count = shown === total ? total.toLocaleString() : `${shown.toLocaleString()} of ${total.toLocaleString()}`
  const words = { loading: 'loading', live: 'live', reconnecting: 'connecting again', failed: 'not live' }
  return (
    <span class={`live-state ${phase}`}>
      <span class="dot" aria-hidden="true" />
      {count} <span class="muted">{words[phase]}</span>
    </span>
  )
}

function Filters({
  resource,
  live,
  wide,
}: {
  readonly resource: Resource
  readonly live: LiveTable
  readonly wide: boolean
}) {
  const declared = useDeclaredFields(resource)
  const hasWide = live.store.columns().some(({ priority = 0 }) => priority > 0)
  return (
    <div class="browse-filters">
      <input
        id="filter"
        type="search"
        aria-label="Filter by text"
        aria-keyshortcuts="/"
        placeholder="Filter by text  /"
        spellcheck={false}
        value={parameter('q')}
        onInput={event => setQuery({ q: event.currentTarget.value })}
        onKeyDown={event => {
          if (event.key === 'Escape' && event.currentTarget.value === '') event.currentTarget.blur()
          if (event.key !== 'Enter' && event.key !== 'ArrowDown') return
          event.preventDefault()
          event.currentTarget.blur()
          document.querySelector<HTMLElement>('.data-table')?.focus()
        }}
      />
      <Suggest
        class="mono"
        label="Label selector"
        placeholder="label selector"
        value={parameter('labels')}
        suggest={typed => completeLabels(typed, countLabels(live.store.all()))}
        onCommit={labels => setQuery({ labels: labels.trim() }, { push: true })}
      />
      <Suggest
        class="mono"
        label="Field selector"
        placeholder="field selector"
        value={parameter('fields')}
        suggest={typed => completeFields(typed, selectableFields(resource, declared))}
        onCommit={fields => setQuery({ fields: fields.trim() }, { push: true })}
      />
      <Button
        icon="columns"
        label={wide ? 'Fewer columns' : 'More columns'}
        keys="w"
        pressed={wide}
        tone="quiet"
        refused={hasWide ? undefined : 'This kind has no more columns.'}
        onClick={() => setQuery({ wide: wide ? '' : '1' })}
      />
    </div>
  )
}

function Nothing({
  live,
  isFiltered,
  resource,
  namespace,
}: {
  readonly live: LiveTable
  readonly isFiltered: boolean
  readonly resource: Resource
  readonly namespace: string
}) {
  if (live.state.phase === 'loading') return <Loading />
  const where = namespace === '' ? '' : ` in namespace ${namespace}`
  return isFiltered ? (
    <EmptyState title={`No ${resource.kind} fits the filters.`}>
      <Button onClick={() => setQuery({ q: '', labels: '', fields: '' })}>Clear the filters</Button>
    </EmptyState>
  ) : (
    <EmptyState title={`There is no ${resource.kind}${where}.`}>
      <p>One that is created appears here at once.</p>
    </EmptyState>
  )
}
