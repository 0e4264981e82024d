// A live stream of the events of any selection, with what each has changed.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { groups, resources } from '../../api/discovery.js'
import { type ListWatchState, listWatch } from '../../api/list-watch.js'
import { type ApiObject, collectionPath, type Resource, resourceId } from '../../api/resource.js'
import { DiffView } from '../../editor/code-editor.js'
import { objectLink } from '../../links.js'
import { parameter, setQuery } from '../../router.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { type DataColumn, DataTable } from '../../ui/data-table.js'
import { Link } from '../../ui/link.js'
import { Badge, EmptyState, ErrorNotice, Loading } from '../../ui/notice.js'
import { Suggest, type Suggestion } from '../../ui/suggest.js'
import { encodeYaml, type Value, withValue } from '../../yaml/yaml-document.js'
import '../tools.css'
import { createEventLog, type EventLog, type LoggedEvent, printEvents } from './event-log.js'
import './watch.css'

export function Watch() {
  const wanted = parameter('resource')
  const resource = resources.value.find(each => resourceId(each) === wanted)
  useEffect(() => {
    document.title = `Watch ${wanted} · Binnacle`
  }, [wanted])
  if (groups.value === undefined) return <Loading />
  return (
    <div class="tool">
      <header class="tool-head">
        <h1>Watch</h1>
        <Suggest
          label="Resource"
          placeholder="deployments.apps"
          class="watch-resource"
          value={wanted}
          single
          suggest={suggestResources}
          onCommit={text => setQuery({ resource: text.trim() }, { push: true })}
        />
        <Selector name="namespace" label="Namespace" placeholder="all namespaces" />
        <Selector name="labels" label="Label selector" placeholder="label selector" />
        <Selector name="fields" label="Field selector" placeholder="field selector" />
      </header>
      {resource === undefined ? (
        <EmptyState title={wanted === '' ? 'Choose what to watch.' : `The server has no ${wanted}.`}>
          <p>Events of every object that the selection matches are shown as they come, with what each has changed.</p>
        </EmptyState>
      ) : (
        <Stream
          key={[resource.version, resourceId(resource), ...SELECTORS.map(parameter)].join(' ')}
          resource={resource}
        />
      )}
    </div>
  )
}

const SELECTORS = ['namespace', 'labels', 'fields']

function suggestResources(text: string): readonly Suggestion[] {
  const typed = text.trim().toLowerCase()
  return resources.value
    .filter(each => each.verbs.includes('watch') && resourceId(each).includes(typed))
    .map(each => ({ text: resourceId(each), label: resourceId(each), note: each.kind }))
}

function Selector({
  name,
  label,
  placeholder,
}: {
  readonly name: string
  readonly label: string
  readonly placeholder: string
}) {
  return (
    <input
      type="text"
      aria-label={label}
      placeholder={placeholder}
      spellcheck={false}
      value={parameter(name)}
      onChange={event => setQuery({ [name]: event.currentTarget.value.trim() })}
    />
  )
}

type ObjectList = { readonly metadata: { readonly resourceVersion?: string }; readonly items?: readonly ApiObject[] }

function useEvents(resource: Resource): { log: EventLog; state: ListWatchState } {
  const log = useMemo(() => createEventLog(), [])
  const [state, setState] = useState<ListWatchState>({ phase: 'loading' })
  useEffect(() => {
    const controller = new AbortController()
    const selection = {
      path: collectionPath(resource, parameter('namespace')),
      labelSelector: parameter('labels'),
      fieldSelector: parameter('fields'),
    }
    void listWatch<ObjectList, ApiObject>(
      selection,
      { page: ({ items = [] }, { first }) => log.know(items, first), event: log.add, state: setState },
      controller.signal,
    )
    return () => controller.abort()
  }, [])
  return { log, state }
}

const TONES = { ADDED: 'good', MODIFIED: 'accent', DELETED: 'bad' } as const

function Stream({ resource }: { readonly resource: Resource }) {
  const { log, state } = useEvents(resource)
  const [paused, setPaused] = useState<readonly LoggedEvent[] | undefined>(undefined)
  const [chosen, setChosen] = useState<LoggedEvent | undefined>(undefined)
  const version = log.version.value
  const events = useMemo(() => (paused ?? log.events()).toReversed(), [paused, version])
  const toggle = (): void => setPaused(paused === undefined ? [...log.events()] : undefined)
  const save = (): void => saveFile(`${resourceId(resource)}-events.ndjson`, printEvents(paused ?? log.events()))
  useCommands(
    [
      { id: 'pause', title: paused ? 'Resume' : 'Pause', group: 'Watch', keys: ['p'], run: toggle },
      { id: 'record', title: 'Save events to a file', group: 'Watch', keys: ['s'], run: save },
    ],
    [paused],
  )
  const active = chosen === undefined ? -1 : events.findIndex(({ seq }) => seq === chosen.seq)
  return (
    <>
      <div class="watch-bar">
        <span class={`live-state ${paused === undefined ? state.phase : 'paused'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {paused === undefined ? state.phase : 'paused'}, {log.total().toLocaleString('en-US')} events
          {paused !== undefined &&
            log.total() > (paused.at(-1)?.seq ?? 0) &&
            ` (${log.total() - (paused.at(-1)?.seq ?? 0)} since)`}
        </span>
        <div class="tool-actions">
          <Button icon={paused ? 'play' : 'pause'} keys="p" label={paused ? 'Resume' : 'Pause'} onClick={toggle}>
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button
            icon="download"
            keys="s"
            label="Save to a file"
            refused={events.length === 0 ? 'There are no events yet.' : undefined}
            onClick={save}
          >
            Save
          </Button>
          <Button
            onClick={() => {
              log.clear()
              setChosen(undefined)
              if (paused) setPaused([])
            }}
          >
            Clear
          </Button>
        </div>
      </div>
      {state.phase === 'failed' && <ErrorNotice error={state.error} />}
      <div class="watch-split">
        <DataTable
          label="Events, newest first"
          columns={COLUMNS}
          rows={events}
          keyOf={({ seq }) => String(seq)}
          active={active}
          onActive={index => setChosen(events[index])}
        />
        {events.length === 0 && state.phase === 'live' && (
          <div class="watch-empty">
            <EmptyState title="Nothing has happened yet.">
              <p>Events appear here as objects are created, changed and deleted.</p>
            </EmptyState>
          </div>
        )}
        {chosen !== undefined && <EventDetails event={chosen} resource={resource} />}
      </div>
    </>
  )
}

const COLUMNS: readonly DataColumn<LoggedEvent>[] = [
  {
    id: 'time',
    title: 'Time',
    width: [116, 0],
    sortable: false,
    cell: ({ at }) => new Date(at).toISOString().slice(11, 23),
  },
  {
    id: 'type',
    title: 'Event',
    width: [108, 0],
    sortable: false,
    cell: ({ type }) => <Badge tone={TONES[type]}>{type}</Badge>,
  },
  {
    id: 'object',
    title: 'Object',
    width: [160, 1],
    sortable: false,
    cell: ({ object: { metadata } }) =>
      metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`,
  },
  {
    id: 'changes',
    title: 'Changes',
    width: [240, 3],
    sortable: false,
    cell: ({ changes }) => (
      <code>
        {changes.map(({ field, before, after }) => `${field}: ${brief(before)} → ${brief(after)}`).join(', ')}
      </code>
    ),
  },
]

function brief(value: unknown): string {
  const text = value === undefined ? '∅' : JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

function EventDetails({ event, resource }: { readonly event: LoggedEvent; readonly resource: Resource }) {
  const { object, before, type } = event
  const [from, to] = type === 'DELETED' ? [object, undefined] : [before, object]
  return (
    <section class="event-details" aria-label={`Event ${event.seq}`}>
      <header>
        <Badge tone={TONES[type]}>{type}</Badge>
        <Link to={objectLink(resource, object.metadata.namespace, object.metadata.name)}>{object.metadata.name}</Link>
        <span class="muted">resourceVersion {object.metadata.resourceVersion}</span>
      </header>
      <DiffView
        key={event.seq}
        before={textOf(from)}
        after={textOf(to)}
        labels={[from === undefined ? 'Nothing' : 'Before', to === undefined ? 'Deleted' : 'After']}
      />
    </section>
  )
}

const textOf = (object: ApiObject | undefined): string =>
  object === undefined
    ? ''
    : encodeYaml(withValue(object as unknown as Value, ['metadata', 'managedFields'], undefined))

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has begun when this turn is over.
  setTimeout(() => URL.revokeObjectURL(url))
}
