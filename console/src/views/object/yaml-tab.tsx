// The object's text: edited with the help of its schema, checked by the server before it is saved.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { FIELD_MANAGER } from '../../api/objects.js'
import type { ManagedFieldsEntry } from '../../api/resource.js'
import { CodeEditor } from '../../editor/code-editor.js'
import type { Editor } from '../../editor/editor-core.js'
import { ageOf, now } from '../../state/clock.js'
import { Button } from '../../ui/button.js'
import { Notice } from '../../ui/notice.js'
import { ownedFields, ownersByLine, readManagers } from '../../yaml/owners.js'
import type { ObjectTabProps } from './object-view.js'
import { findProblems } from './problems.js'
import { SaveDialogs, useSave } from './save-flow.js'

const CHECK_MS = 150

export function YamlTab({ resource, object, path, schema, draft, isDeleted }: ObjectTabProps) {
  const [editor, setEditor] = useState<Editor | undefined>(undefined)
  const [mode, setMode] = useState<'replace' | 'apply'>('replace')
  const [manager, setManager] = useState(FIELD_MANAGER)
  const [force, setForce] = useState(false)
  const latestSchema = useRef(schema)
  latestSchema.current = schema
  const { metadata } = object
  const entries = metadata.managedFields ?? []
  const save = useSave({ resource, path, draft, mode, manager, force })
  const access = {
    group: resource.group,
    resource: resource.name,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  }
  const refused = isDeleted
    ? 'The object is gone.'
    : (refusal({ ...access, verb: mode === 'apply' ? 'patch' : 'update' }) ??
      (draft.document.value.error !== undefined
        ? 'The text is not valid YAML.'
        : mode === 'replace' && !draft.isChanged.value
          ? 'Nothing has changed.'
          : undefined))

  useMarks(editor, draft.text.value, [schema, entries, draft.causes.value], async () => {
    const { showOwners, showProblems } = await import('../../editor/object-extensions.js')
    if (editor === undefined) return
    const document = draft.document.value
    showProblems(editor.view, findProblems(document, schema, draft.causes.value))
    if (document.value !== undefined)
      showOwners(editor.view, ownersByLine(document, ownedFields(entries, document.value)))
  })

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
        <div class="browse-actions">
          <Button
            icon="restore"
            tone="quiet"
            refused={draft.isChanged.value ? undefined : 'Nothing has changed.'}
            onClick={draft.discard}
          >
            Discard
          </Button>
          <Button
            icon="check"
            tone="primary"
            refused={refused}
            busy={save.isBusy}
            keys="Ctrl S"
            label="Save"
            onClick={save.start}
          >
            Check and save
          </Button>
        </div>
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
      <CodeEditor
        label={`YAML of ${metadata.name}`}
        value={draft.text.value ?? ''}
        readOnly={isDeleted}
        extensions={async () =>
          (await import('../../editor/object-extensions.js')).objectExtensions(() => latestSchema.current)
        }
        onChange={draft.edit}
        onSave={() => {
          if (refused === undefined) save.start()
        }}
        onReady={setEditor}
      />
      <SaveDialogs save={save} />
    </div>
  )
}

/** Marks the editor a moment after the last change. */
function useMarks(
  editor: Editor | undefined,
  text: string | undefined,
  inputs: readonly unknown[],
  mark: () => Promise<void>,
): void {
  useEffect(() => {
    if (editor === undefined) return
    const timer = setTimeout(() => void mark(), CHECK_MS)
    return () => clearTimeout(timer)
  }, [editor, text, ...inputs])
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
