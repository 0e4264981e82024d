// An object of the kind to start from.
import { useEffect, useState } from 'preact/hooks'
import { readSample } from '../../api/console-api.js'
import { CodeEditor } from '../../editor/code-editor.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { ErrorNotice } from '../../ui/notice.js'
import { encodeYaml, type Value } from '../../yaml/yaml-document.js'
import { chosenVersion, type DefinitionTabProps, VersionPicker } from './definition.js'

export function SampleTab({ definition }: DefinitionTabProps) {
  const { spec } = definition
  const version = chosenVersion(definition).name
  const [isWhole, setWhole] = useState(false)
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const { group, names } = spec
    readSample({ kind: { group, version, kind: names.kind } }, isWhole, controller.signal).then(
      ({ object }) => {
        setText(encodeYaml(object as Value))
        setError(undefined)
      },
      (reason: unknown) => controller.signal.aborted || setError(reason),
    )
    return () => controller.abort()
  }, [version, isWhole, definition.metadata.generation])
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(() => toast('done', 'Copied'), toastError)
  }
  return (
    <>
      <div class="panel-head">
        <VersionPicker definition={definition} />
        <label class="inline">
          <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> every field
        </label>
        <Button icon="copy" onClick={copy}>
          Copy
        </Button>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
      <div class="editor-box tall">
        <CodeEditor label="Sample object" value={text} onChange={setText} />
      </div>
    </>
  )
}
