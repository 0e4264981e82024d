// A change of the definition: what it would break is said before it is saved.
import { useEffect, useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { type Plan, readPlan } from '../../api/console-api.js'
import { replaceYaml } from '../../api/objects.js'
import { CodeEditor } from '../../editor/code-editor.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Badge, EmptyState, Loading, Notice } from '../../ui/notice.js'
import { readYaml, type Value, valueAt, withoutManagedFields } from '../../yaml/yaml-document.js'
import type { Draft } from '../draft.js'

const QUIET_MS = 600

interface ChangeTabProps {
  readonly path: string
  readonly name: string
  readonly draft: Draft
}

export function ChangeTab({ path, name, draft }: ChangeTabProps) {
  const text = draft.text.value
  const isChanged = draft.isChanged.value
  const { plan, error, isBusy } = usePlan(isChanged ? text : undefined)
  const breaking = plan?.findings.filter(({ severity }) => severity === 'error').length ?? 0
  const [isSure, setSure] = useState(false)
  useEffect(() => setSure(false), [text])
  const refused =
    refusal({
      verb: 'update',
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      name,
    }) ??
    (!isChanged
      ? 'Nothing is changed.'
      : plan === undefined || isBusy
        ? 'The plan is not ready.'
        : breaking > 0 && !isSure
          ? 'It would break something: confirm first.'
          : undefined)
  const save = (): void => {
    replaceYaml(path, text).then(written => {
      draft.reset(withoutManagedFields(written))
      toast('done', `Saved ${name}`)
    }, toastError)
  }
  if (draft.base.value === undefined) return <Loading />
  return (
    <div class="change">
      <div class="editor-box change-editor">
        <CodeEditor label="Definition" value={text} onChange={draft.edit} onSave={() => refused ?? save()} />
      </div>
      <section class="change-plan" aria-label="What the change means" aria-busy={isBusy} aria-live="polite">
        <div class="panel-head">
          <h2>What the change means</h2>
          {breaking > 0 && (
            <label class="inline">
              <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> save all the same
            </label>
          )}
          <Button tone="primary" refused={refused} onClick={save}>
            Save
          </Button>
          <Button tone="quiet" refused={isChanged ? undefined : 'Nothing is changed.'} onClick={draft.discard}>
            Undo
          </Button>
        </div>
        {error !== undefined && <Notice tone="error">{error}</Notice>}
        {!isChanged && <EmptyState title="Change the definition to see what the change would break." />}
        {isChanged && plan !== undefined && <Findings plan={plan} />}
      </section>
    </div>
  )
}

function usePlan(text: string | undefined) {
  const [plan, setPlan] = useState<Plan | undefined>(undefined)
  const [error, setError] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    setError(undefined)
    if (text === undefined) return
    setBusy(true)
    let isCurrent = true
    const ask = async (): Promise<void> => {
      try {
        const found = await readPlan(definitionIn(text))
        if (isCurrent) setPlan(found)
      } catch (reason) {
        if (isCurrent) {
          setPlan(undefined)
          setError(reason instanceof Error ? reason.message : String(reason))
        }
      }
      if (isCurrent) setBusy(false)
    }
    const timer = setTimeout(() => void ask(), QUIET_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  return { plan, error, isBusy }
}

function definitionIn(text: string): Value {
  const { value, error } = readYaml(text)
  if (error !== undefined) throw new Error(`Line ${error.line + 1}: ${error.message}`)
  if (valueAt(value, ['kind']) === undefined) throw new Error('The text is no CustomResourceDefinition.')
  return value!
}

const TITLES: Readonly<Record<string, string>> = {
  'breaks-writers': 'breaks those who write objects',
  'breaks-readers': 'breaks those who read objects',
  'breaks-stored': 'breaks stored objects',
  'stored-object': 'stored object',
  compatible: 'compatible',
}

function Findings({ plan }: { readonly plan: Plan }) {
  const { findings, objects, truncated } = plan
  return (
    <>
      <p class="muted">
        {objects === 0 ? 'No stored objects.' : `${objects} stored objects were checked.`}
        {truncated && ' Only the first ones are shown.'}
      </p>
      {findings.length === 0 && <Notice tone="info">The change breaks nothing.</Notice>}
      <ul class="findings">
        {findings.map(({ rule, severity, message, hint, field, object }, i) => (
          <li key={`${i} ${message}`}>
            <Badge tone={severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'good'}>
              {TITLES[rule] ?? rule}
            </Badge>
            <div>
              {object !== undefined && <strong>{object} </strong>}
              {message}
              {field !== undefined && <code class="finding-field">{field}</code>}
              {hint !== undefined && <p class="muted">{hint}</p>}
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}
