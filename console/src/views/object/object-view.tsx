// One object: what it is, its text, its form, its relations, its events, its history.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { ApiError } from '../../api/client.js'
import { findResource, groups } from '../../api/discovery.js'
import { type KindSchema, readSchema } from '../../api/openapi.js'
import { type ApiObject, groupVersion, objectPath, type Resource } from '../../api/resource.js'
import { browseLink, groupOf, namespaceOf } from '../../links.js'
import { navigate, parameter, setQuery } from '../../router.js'
import { ageOf, exactTime, now } from '../../state/clock.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { Link } from '../../ui/link.js'
import { Badge, EmptyState, ErrorNotice, Loading } from '../../ui/notice.js'
import { Tabs } from '../../ui/tabs.js'
import { DeleteDialog } from '../browse/bulk-dialogs.js'
import { type Draft, useObjectDraft } from '../draft.js'
import type { ViewProps } from '../index.js'
import { EventsTab } from './events-tab.js'
import { FormTab } from './form-tab.js'
import { HistoryTab } from './history-tab.js'
import { useLiveObject } from './live-object.js'
import './object.css'
import { Overview } from './overview.js'
import { RelationsTab } from './relations-tab.js'
import { YamlTab } from './yaml-tab.js'

export function ObjectView({ parameters }: ViewProps) {
  const { group = '', version = '', resource: plural = '', namespace = '', name = '' } = parameters
  const resource = findResource(groupOf(group), version, plural)
  if (groups.value === undefined) return <Loading />
  if (resource === undefined) return <EmptyState title={`The server has no ${plural} in ${group}/${version}.`} />
  return <KnownObject resource={resource} namespace={namespaceOf(namespace)} name={name} />
}

interface KnownObjectProps {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
}

function KnownObject({ resource, namespace, name }: KnownObjectProps) {
  const key = `${groupVersion(resource)}/${resource.name}`
  // Discovery that is read again gives equal resources.
  const stable = useMemo(() => resource, [key])
  const { object, isDeleted, error } = useLiveObject(stable, namespace, name)
  useEffect(() => {
    document.title = `${name} · ${resource.kind} · Binnacle`
  }, [name, resource.kind])
  if (object === undefined) return error === undefined ? <Loading /> : <Missing {...{ resource, namespace, error }} />
  return <LoadedObject resource={stable} object={object} isDeleted={isDeleted} />
}

function Missing({ resource, namespace, error }: { resource: Resource; namespace: string; error: unknown }) {
  const all = <Link to={browseLink(resource, { namespace })}>All {resource.name}</Link>
  if (error instanceof ApiError && error.code === 404) return <EmptyState title={error.message}>{all}</EmptyState>
  return (
    <div class="page">
      <ErrorNotice error={error} />
      <p class="after-notice">{all}</p>
    </div>
  )
}

export interface ObjectTabProps {
  readonly resource: Resource
  readonly object: ApiObject
  readonly path: string
  readonly schema: KindSchema | undefined
  readonly draft: Draft
  readonly isDeleted: boolean
}

const TABS = [
  { id: 'overview', title: 'Overview' },
  { id: 'yaml', title: 'YAML' },
  { id: 'form', title: 'Form' },
  { id: 'relations', title: 'Relations' },
  { id: 'events', title: 'Events' },
  { id: 'history', title: 'History' },
]

function LoadedObject({ resource, object, isDeleted }: { resource: Resource; object: ApiObject; isDeleted: boolean }) {
  const { metadata } = object
  const namespace = metadata.namespace ?? ''
  const path = objectPath(resource, namespace, metadata.name)
  const schema = useSchema(resource)
  const draft = useObjectDraft(path, metadata.resourceVersion ?? '', isDeleted)
  const [isDeleting, setDeleting] = useState(false)
  const tab = TABS.some(({ id }) => id === parameter('tab')) ? parameter('tab') : 'overview'
  const select = (id: string): void => setQuery({ tab: id === 'overview' ? '' : id }, { push: true })
  const access = { group: resource.group, resource: resource.name, namespace, name: metadata.name }
  const refused = isDeleted ? 'The object is gone.' : refusal({ ...access, verb: 'delete' })
  const back = (): void =>
    navigate(browseLink(resource, resource.namespaced ? { namespace: parameter('from') || namespace } : {}))
  useCommands(
    [
      ...TABS.map(({ id, title }, index) => ({
        id: `tab-${id}`,
        title: `Show ${title}`,
        group: 'Object',
        keys: [String(index + 1), ...(id === 'yaml' ? ['e', 'y'] : id === 'overview' ? ['d'] : [])],
        run: () => select(id),
      })),
      {
        id: 'delete-object',
        title: `Delete ${metadata.name}`,
        group: 'Object',
        keys: ['Delete'],
        disabled: refused,
        run: () => setDeleting(true),
      },
      { id: 'back', title: `Back to all ${resource.name}`, group: 'Object', keys: ['Escape', 'u'], run: back },
    ],
    [resource, metadata.name, refused],
  )
  const props: ObjectTabProps = { resource, object, path, schema, draft, isDeleted }
  return (
    <div class="object">
      <header class="object-head">
        <nav class="crumbs" aria-label="Where this is">
          <Link to={browseLink(resource, resource.namespaced ? { namespace } : {})}>{resource.kind}</Link>
          {namespace !== '' && (
            <>
              <span class="muted">in</span>
              <span>{namespace}</span>
            </>
          )}
        </nav>
        <div class="object-title">
          <h1>{metadata.name}</h1>
          {isDeleted ? (
            <Badge tone="bad">deleted</Badge>
          ) : (
            metadata.deletionTimestamp !== undefined && <Badge tone="warn">being deleted</Badge>
          )}
          {draft.isChanged.value && <Badge tone="accent">unsaved changes</Badge>}
          <span class="muted" title={metadata.creationTimestamp && exactTime(metadata.creationTimestamp)}>
            {ageOf(metadata.creationTimestamp, now.value)} old
          </span>
          <div class="browse-actions">
            <Button
              icon="trash"
              tone="danger"
              refused={refused}
              label="Delete"
              keys="Delete"
              onClick={() => setDeleting(true)}
            >
              Delete
            </Button>
          </div>
        </div>
      </header>
      <Tabs label={`Views of ${metadata.name}`} tabs={TABS} selected={tab} onSelect={select}>
        {tab === 'overview' && <Overview {...props} />}
        {tab === 'yaml' && <YamlTab {...props} />}
        {tab === 'form' && <FormTab {...props} />}
        {tab === 'relations' && <RelationsTab {...props} />}
        {tab === 'events' && <EventsTab {...props} />}
        {tab === 'history' && <HistoryTab {...props} />}
      </Tabs>
      {isDeleting && (
        <DeleteDialog
          resource={resource}
          objects={[{ namespace, name: metadata.name, uid: metadata.uid }]}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  )
}

export function useSchema({ group, version, kind }: Resource): KindSchema | undefined {
  const [schema, setSchema] = useState<KindSchema | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    readSchema(group, version, kind).then(
      found => isCurrent && setSchema(found),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [group, version, kind])
  return schema
}
