// A new object: from its schema to a text, checked by the server before it is created.
import { useEffect } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { findResource, groups } from '../../api/discovery.js'
import { FIELD_MANAGER } from '../../api/objects.js'
import { collectionPath, type Resource } from '../../api/resource.js'
import { browseLink, groupOf, objectLink } from '../../links.js'
import { navigate, parameter } from '../../router.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { EmptyState, Loading, Notice } from '../../ui/notice.js'
import { readYaml, valueAt } from '../../yaml/yaml-document.js'
import { useDraft } from '../draft.js'
import type { ViewProps } from '../index.js'
import './object.css'
import { ObjectEditor } from './object-editor.js'
import { useSchema } from './object-view.js'
import { SaveButton } from './save-actions.js'
import { SaveDialogs, useSave } from './save-flow.js'
import { skeletonOf } from './skeleton.js'

export function CreateView({ parameters }: ViewProps) {
  const { group = '', version = '', resource: plural = '' } = parameters
  const resource = findResource(groupOf(group), version, plural)
  if (groups.value === undefined) return <Loading />
  if (resource === undefined) return <EmptyState title={`The server has no ${plural} in ${group}/${version}.`} />
  return <NewObject resource={resource} />
}

function NewObject({ resource }: { readonly resource: Resource }) {
  const namespace = resource.namespaced ? parameter('namespace') || 'default' : ''
  const schema = useSchema(resource)
  const draft = useDraft(`new ${collectionPath(resource, namespace)}`)
  useEffect(() => {
    document.title = `New ${resource.kind} · Binnacle`
  }, [resource.kind])
  useEffect(() => {
    if (!draft.isChanged.value) draft.reset(skeletonOf(resource, namespace, schema))
  }, [schema])
  const written = valueAt(draft.document.value.value, ['metadata', 'namespace'])
  const target = resource.namespaced && typeof written === 'string' ? written : namespace
  const save = useSave({
    resource,
    path: collectionPath(resource, target),
    draft,
    mode: 'create',
    manager: FIELD_MANAGER,
    force: false,
    onSaved: text => {
      const name = valueAt(readYaml(text).value, ['metadata', 'name'])
      if (typeof name === 'string') navigate(objectLink(resource, target, name), { replace: true })
    },
  })
  const refused =
    refusal({ verb: 'create', group: resource.group, resource: resource.name, namespace: target }) ??
    (draft.document.value.error === undefined ? undefined : 'The text is not valid YAML.')
  const back = (): void => navigate(browseLink(resource, { namespace: parameter('namespace') }))
  useCommands([{ id: 'back', title: 'Back', group: 'Object', keys: ['Escape'], run: back }], [resource])
  return (
    <div class="object">
      <header class="object-head">
        <div class="object-title">
          <h1>New {resource.kind}</h1>
          <div class="browse-actions">
            <Button tone="quiet" onClick={back}>
              Cancel
            </Button>
            <SaveButton save={save} refused={refused} label="Create">
              Check and create
            </SaveButton>
          </div>
        </div>
      </header>
      {save.error !== undefined && <Notice tone="error">{save.error}</Notice>}
      <ObjectEditor
        label={`YAML of a new ${resource.kind}`}
        draft={draft}
        schema={schema}
        save={save}
        refused={refused}
      />
      <SaveDialogs save={save} />
    </div>
  )
}
