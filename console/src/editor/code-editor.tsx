// An editor as a component. CodeMirror is loaded when the first one is shown.
import type { Extension } from '@codemirror/state'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Editor } from './editor-core.js'

interface CodeEditorProps {
  readonly label: string
  readonly value: string
  readonly readOnly?: boolean
  readonly language?: 'yaml' | 'plain'
  /** Made once, when the editor is. */
  readonly extensions?: () => Promise<Extension>
  readonly onChange?: (text: string) => void
  readonly onSave?: () => void
  readonly onReady?: (editor: Editor) => void
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, value, readOnly = false, language = 'yaml', extensions, onReady } = props
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | undefined>(undefined)
  // The handlers of the latest drawing, for an editor that is made once.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    let isGone = false
    const parent = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    void Promise.all([import('./editor-core.js'), extensions?.() ?? []]).then(([{ createEditor }, more]) => {
      if (isGone) return
      editor.current = createEditor({
        parent,
        text: latest.current.value,
        label,
        readOnly: latest.current.readOnly ?? false,
        language,
        extensions: more,
        onChange: text => latest.current.onChange?.(text),
        onSave: () => latest.current.onSave?.(),
      })
      onReady?.(editor.current)
    })
    return () => {
      isGone = true
      editor.current?.destroy()
      editor.current = undefined
    }
  }, [])
  // Before the next key can arrive: a later effect would put an earlier text into the place of what was typed since.
  useLayoutEffect(() => editor.current?.setText(value), [value])
  useEffect(() => editor.current?.setReadOnly(readOnly), [readOnly])
  return <div ref={host} class="code-editor" />
}

/** What differs between two texts. */
export function DiffView({
  before,
  after,
  labels,
}: {
  readonly before: string
  readonly after: string
  readonly labels: readonly [before: string, after: string]
}) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let destroy: (() => void) | undefined
    let isGone = false
    const parent = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    void import('./editor-core.js').then(({ createDiff }) => {
      if (!isGone) destroy = createDiff(parent, before, after, labels)
    })
    return () => {
      isGone = true
      destroy?.()
    }
  }, [before, after])
  return (
    <div class="diff">
      <div class="diff-labels">
        <span>{labels[0]}</span>
        <span>{labels[1]}</span>
      </div>
      <div ref={host} class="diff-view" />
    </div>
  )
}
