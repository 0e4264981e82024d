// The editor of an object's text: completed, described and checked by the schema, with problems at their lines and the
// owners of fields in the margin.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { KindSchema } from '../../api/openapi.js'
import type { ManagedFieldsEntry } from '../../api/resource.js'
import { CodeEditor } from '../../editor/code-editor.js'
import type { Editor } from '../../editor/editor-core.js'
import { ownedFields, ownersByLine } from '../../yaml/owners.js'
import type { Draft } from '../draft.js'
import { findProblems } from './problems.js'
import type { Save } from './save-flow.js'

/** The text is checked a moment after the last change. */
const CHECK_MS = 150
const NO_ENTRIES: readonly ManagedFieldsEntry[] = []

interface ObjectEditorProps {
  readonly label: string
  readonly draft: Draft
  readonly schema: KindSchema | undefined
  readonly save: Save
  /** Why it cannot be saved now. */
  readonly refused: string | undefined
  readonly owners?: readonly ManagedFieldsEntry[] | undefined
  readonly readOnly?: boolean
}

const loadExtensions = () => import('../../editor/object-extensions.js')

export function ObjectEditor(props: ObjectEditorProps) {
  const { label, draft, schema, save, refused, owners = NO_ENTRIES, readOnly = false } = props
  const [editor, setEditor] = useState<Editor | undefined>(undefined)
  const latestSchema = useRef(schema)
  latestSchema.current = schema
  useEffect(() => {
    if (editor === undefined) return
    const mark = async (): Promise<void> => {
      const { showOwners, showProblems } = await loadExtensions()
      const document = draft.document.value
      showProblems(editor.view, findProblems(document, schema, draft.causes.value))
      if (document.value !== undefined)
        showOwners(editor.view, ownersByLine(document, ownedFields(owners, document.value)))
    }
    const timer = setTimeout(() => void mark(), CHECK_MS)
    return () => clearTimeout(timer)
  }, [editor, draft.text.value, schema, owners, draft.causes.value])
  return (
    <CodeEditor
      label={label}
      value={draft.text.value}
      readOnly={readOnly}
      extensions={async () => (await loadExtensions()).objectExtensions(() => latestSchema.current)}
      onChange={draft.edit}
      onSave={() => {
        if (refused === undefined) save.start()
      }}
      onReady={setEditor}
    />
  )
}
