// A definition: its schema as a tree, its versions, the costs of its rules, a sample, and what a change would break.
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/client.js'
import { findResource } from '../../api/discovery.js'
import { listWatch } from '../../api/list-watch.js'
import type { ApiObject } from '../../api/resource.js'
import { browseLink, objectLink } from '../../links.js'
import { parameter, setQuery } from '../../router.js'
import { useCommands } from '../../state/use-commands.js'
import { Link } from '../../ui/link.js'
import { Badge, EmptyState, ErrorNotice, Loading } from '../../ui/notice.js'
import { Tabs } from '../../ui/tabs.js'
import { useObjectDraft } from '../draft.js'
import type { ViewProps } from '../index.js'
import '../tools.css'
import { ChangeTab } from './change-tab.js'
import './definition.css'
import { RulesTab } from './rules-tab.js'
import { SampleTab } from './sample-tab.js'
import { SchemaTab } from './schema-tab.js'
import type { JsonSchema } from './schema-tree.js'
import { VersionsTab } from './versions-tab.js'

export interface DefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema }
  readonly subresources?: { readonly status?: object; readonly scale?: object }
}

export interface Definition extends ApiObject {
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: { readonly plural: string; readonly kind: string; readonly shortNames?: readonly string[] }
    readonly versions: readonly DefinitionVersion[]
    readonly conversion?: { readonly strategy?: string }
  }
  readonly status?: {
    readonly storedVersions?: readonly string[]
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const CRD = { group: 'apiextensions.k8s.io', version: 'v1', name: 'customresourcedefinitions' }

export interface DefinitionTabProps {
  readonly definition: Definition
}

const TABS = [
  { id: 'schema', title: 'Schema' },
  { id: 'versions', title: 'Versions' },
  { id: 'rules', title: 'Rules' },
  { id: 'sample', title: 'Sample' },
  { id: 'change', title: 'Change' },
]

export function DefinitionView({ parameters }: ViewProps) {
  const { name = '' } = parameters
  const { definition, error } = useDefinition(name)
  useEffect(() => {
    document.title = `${name} · Binnacle`
  }, [name])
  if (error !== undefined && definition === undefined) {
    return (
      <div class="page">
        <ErrorNotice error={error} />
      </div>
    )
  }
  if (definition === null) return <EmptyState title={`There is no definition ${name}.`} />
  return definition === undefined ? <Loading /> : <Loaded definition={definition} />
}

function Loaded({ definition }: DefinitionTabProps) {
  const { spec, metadata, status } = definition
  const path = `${DEFINITIONS}/${encodeURIComponent(metadata.name)}`
  // Here and not in the tab: it outlives a look at the other tabs.
  const draft = useObjectDraft(path, metadata.resourceVersion ?? '')
  const tab = TABS.some(({ id }) => id === parameter('tab')) ? parameter('tab') : 'schema'
  const select = (id: string): void => setQuery({ tab: id === 'schema' ? '' : id }, { push: true })
  const conditions = status?.conditions ?? []
  const isEstablished = conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')
  const problems = conditions.filter(
    ({ type, status: is }) =>
      (type === 'NonStructuralSchema' && is === 'True') || (type === 'NamesAccepted' && is === 'False'),
  )
  const resource = findResource(spec.group, spec.versions.find(({ served }) => served)?.name ?? '', spec.names.plural)
  useCommands(
    TABS.map(({ id, title }, index) => ({
      id: `tab-${id}`,
      title: `Show ${title}`,
      group: 'Definition',
      keys: [String(index + 1)],
      run: () => select(id),
    })),
    [],
  )
  return (
    <div class="tool">
      <header class="tool-head">
        <h1>{spec.names.kind}</h1>
        <span class="muted">
          {spec.group}, {spec.scope === 'Namespaced' ? 'in namespaces' : 'of the cluster'}
        </span>
        {draft.isChanged.value && <Badge tone="accent">unsaved changes</Badge>}
        <Badge tone={isEstablished ? 'good' : 'warn'}>{isEstablished ? 'established' : 'not established'}</Badge>
        <div class="tool-actions">
          {resource !== undefined && <Link to={browseLink(resource)}>objects</Link>}
          <Link to={objectLink(CRD, undefined, metadata.name, { tab: 'yaml' })}>YAML</Link>
        </div>
      </header>
      {problems.map(({ type, message }) => (
        <ErrorNotice key={type} error={new Error(`${type}: ${message ?? ''}`)} />
      ))}
      <Tabs label={`Views of ${metadata.name}`} tabs={TABS} selected={tab} onSelect={select}>
        <div class="tool-body definition">
          {tab === 'schema' && <SchemaTab definition={definition} />}
          {tab === 'versions' && <VersionsTab definition={definition} />}
          {tab === 'rules' && <RulesTab definition={definition} />}
          {tab === 'sample' && <SampleTab definition={definition} />}
          {tab === 'change' && <ChangeTab path={path} name={metadata.name} draft={draft} />}
        </div>
      </Tabs>
    </div>
  )
}

/** Kept true by a watch; null if there is none of that name. */
function useDefinition(name: string): { definition: Definition | null | undefined; error: unknown } {
  const [definition, setDefinition] = useState<Definition | null | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    setDefinition(undefined)
    const controller = new AbortController()
    void listWatch<{ metadata: object; items?: readonly Definition[] }, Definition>(
      { path: DEFINITIONS, fieldSelector: `metadata.name=${name}` },
      {
        page: ({ items = [] }, { last }) => {
          if (items[0] !== undefined) setDefinition(items[0])
          else if (last) setDefinition(known => known ?? null)
        },
        event: ({ type, object }) => {
          if (type === 'DELETED') setDefinition(null)
          else if (type !== 'BOOKMARK') setDefinition(object)
        },
        state: state => setError(state.phase === 'failed' ? state.error : undefined),
      },
      controller.signal,
    )
    return () => controller.abort()
  }, [name])
  return { definition, error: error instanceof ApiError ? error : undefined }
}

/** The version that a tab shows: that of the address, or the stored one. */
export function chosenVersion({ spec: { versions } }: Definition, name = parameter('version')): DefinitionVersion {
  return versions.find(version => version.name === name) ?? versions.find(({ storage }) => storage) ?? versions[0]!
}

export function VersionPicker({
  definition,
  query = 'version',
  label = 'Version',
}: DefinitionTabProps & { readonly query?: string; readonly label?: string }) {
  const { versions } = definition.spec
  return (
    <label class="inline">
      {label}{' '}
      <select
        value={query === 'version' ? chosenVersion(definition).name : parameter(query)}
        onChange={event => setQuery({ [query]: event.currentTarget.value })}
      >
        {query !== 'version' && <option value="">none</option>}
        {versions.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
