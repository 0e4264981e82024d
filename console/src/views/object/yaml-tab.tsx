// The object's text: edited with the help of its schema, checked by the server before it is saved.
import { useMemo, useState } from 'preact/hooks'
import { FIELD_MANAGER } from '../../api/objects.js'
import type { ManagedFieldsEntry } from '../../api/resource.js'
import { ageOf, now } from '../../state/clock.js'
import { Notice } from '../../ui/notice.js'
import { readManagers } from '../../yaml/owners.js'
import { ObjectEditor } from './object-editor.js'
import type { ObjectTabProps } from './object-view.js'
import { SaveActions, saveRefusal } from './save-actions.js'
import { SaveDialogs, useSave } from './save-flow.js'

export function YamlTab(props: ObjectTabProps) {
  const { resource, object, path, schema, draft, isDeleted } = props
  const [mode, setMode] = useState<'replace' | 'apply'>('replace')
  const [manager, setManager] = useState(FIELD_MANAGER)
  const [force, setForce] = useState(false)
  const { metadata } = object
  const entries = metadata.managedFields ?? []
  const save = useSave({ resource, path, draft, mode, manager, force })
  const refused = saveRefusal(props, mode)
  const behind = draft.isChanged.value && isBehind(draft.base.value, metadata.resourceVersion)
  return (
    <div class="yaml-tab">
      <div class="editor-bar">
        <fieldset class="segmented">
          <legend class="hidden">How it is written</legend>
          <label title="PUT: the object becomes what the text says">
            <input type="radio" name="mode" checked={mode === 'replace'} onChange={() => setMode('replace')} />
            Replace
          </label>
          <label title="Server-side apply: you own the fields in the text">
            <input type="radio" name="mode" checked={mode === 'apply'} onChange={() => setMode('apply')} />
            Apply
          </label>
        </fieldset>
        {mode === 'apply' && (
          <>
            <label class="inline">
              as
              <input
                type="text"
                class="mono"
                aria-label="Field manager"
                value={manager}
                onInput={event => setManager(event.currentTarget.value)}
              />
            </label>
            <label class="inline" title="Take fields that other managers own">
              <input type="checkbox" checked={force} onChange={event => setForce(event.currentTarget.checked)} />
              force
            </label>
          </>
        )}
        <Managers entries={entries} />
        <SaveActions save={save} refused={refused} />
      </div>
      {behind && (
        <Notice tone="warning">
          The object has changed on the server since you began.{' '}
          <button type="button" class="text-button" onClick={save.merge}>
            Compare and merge
          </button>
        </Notice>
      )}
      {save.error !== undefined && <Notice tone="error">{save.error}</Notice>}
      <ObjectEditor
        label={`YAML of ${metadata.name}`}
        draft={draft}
        schema={schema}
        save={save}
        refused={refused}
        owners={metadata.managedFields}
        readOnly={isDeleted}
      />
      <SaveDialogs save={save} />
    </div>
  )
}

const isBehind = (base: string | undefined, resourceVersion: string | undefined): boolean =>
  base !== undefined && !base.includes(`resourceVersion: "${resourceVersion ?? ''}"`)

/** The legend of the margins. */
function Managers({ entries }: { readonly entries: readonly ManagedFieldsEntry[] }) {
  const managers = useMemo(() => readManagers(entries), [entries])
  const names = [...new Set(managers.map(({ name }) => name))]
  return (
    <ul class="managers" aria-label="Field managers">
      {names.map(name => {
        const of = managers.filter(each => each.name === name)
        const title = of
          .map(
            ({ operation, subresource, time }) =>
              `${operation}${subresource ? ` of ${subresource}` : ''} ${ageOf(time, now.value)} ago`,
          )
          .join('\n')
        return (
          <li key={name} title={title}>
            <span class={`swatch owner-${of[0]!.index % 8}`} aria-hidden="true" />
            {name}
          </li>
        )
      })}
    </ul>
  )
}
