// Expressions tried out on an object: result, type, and what each part may cost and did cost. As a rule of a schema, or as
// an expression of an admission policy.
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../api/client.js'
import { type ExplainedExpression, explain, readSample } from '../../api/console-api.js'
import { groups, resources } from '../../api/discovery.js'
import { groupVersion, type Resource } from '../../api/resource.js'
import { CodeEditor } from '../../editor/code-editor.js'
import { parameter, setFragment } from '../../router.js'
import { toast, toastError } from '../../state/toasts.js'
import { useCommands } from '../../state/use-commands.js'
import { Button } from '../../ui/button.js'
import { Loading } from '../../ui/notice.js'
import { Suggest, type Suggestion } from '../../ui/suggest.js'
import { encodeYaml, readYaml, type Value } from '../../yaml/yaml-document.js'
import '../tools.css'
import './playground.css'
import { Result } from './result.js'
import { decodeState, EMPTY, encodeState, type PlaygroundState } from './shared-state.js'

const QUIET_MS = 250

const EXAMPLE: PlaygroundState = {
  ...EMPTY,
  expression: 'self.spec.replicas <= 5 &&\nself.spec.template.spec.containers.all(c, c.image.contains(":"))',
  schema: 'apps/v1 Deployment',
  object: `spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: web
          image: nginx:1.27
        - name: side
          image: busybox
`,
}

export function Playground() {
  const [start, setStart] = useState<PlaygroundState | undefined>(undefined)
  useEffect(() => {
    document.title = 'CEL playground · Binnacle'
    void startState().then(setStart)
  }, [])
  return start === undefined || groups.value === undefined ? <Loading /> : <Tried start={start} />
}

/** From a shared link, from parameters of another view, or an example. */
async function startState(): Promise<PlaygroundState> {
  const shared = new URLSearchParams(location.hash.slice(1)).get('state')
  if (shared !== null) {
    const found = await decodeState(shared)
    if (found !== undefined) return found
    toast('warning', 'The link does not hold a state of the playground.')
  }
  const [expression, schema, path] = [parameter('expression'), parameter('schema'), parameter('path')]
  return expression === '' ? EXAMPLE : { ...EMPTY, expression, schema, path }
}

function Tried({ start }: { readonly start: PlaygroundState }) {
  const [state, setState] = useState(start)
  const set = (change: Partial<PlaygroundState>): void => setState(known => ({ ...known, ...change }))
  const { answer, error, isBusy } = useAnswer(state)
  const share = (): void => {
    void encodeState(state)
      .then(async text => {
        setFragment(`#state=${text}`)
        await navigator.clipboard.writeText(location.href)
        toast('done', 'The link is copied')
      })
      .catch(toastError)
  }
  const fill = (): void => {
    const resource = resourceOf(state.schema)
    if (resource === undefined) return
    const { group, version, kind } = resource
    readSample({ kind: { group, version, kind } }, true).then(
      ({ object }) => set({ object: encodeYaml(object as Value) }),
      toastError,
    )
  }
  useCommands(
    [{ id: 'share', title: 'Copy a link to this', group: 'Playground', keys: ['Ctrl+l'], run: share }],
    [state],
  )
  const isPolicy = state.environment === 'policy'
  return (
    <div class="tool">
      <header class="tool-head">
        <h1>CEL playground</h1>
        <fieldset class="choices">
          <legend class="hidden-label">Environment</legend>
          {(['rule', 'policy'] as const).map(each => (
            <label key={each}>
              <input
                type="radio"
                name="environment"
                checked={state.environment === each}
                onChange={() => set({ environment: each })}
              />
              {each === 'rule' ? 'validation rule' : 'admission policy'}
            </label>
          ))}
        </fieldset>
        <Suggest
          label="Schema"
          placeholder="no schema: dynamic"
          class="playground-schema"
          single
          value={state.schema}
          suggest={suggestKinds}
          invalid={state.schema === '' || resourceOf(state.schema) ? undefined : 'The server has no such kind.'}
          onCommit={text => set({ schema: text.trim() })}
        />
        {!isPolicy && (
          <input
            type="text"
            aria-label="Path of the rule"
            placeholder="path: spec.items[0]"
            spellcheck={false}
            value={state.path}
            onInput={event => set({ path: event.currentTarget.value })}
          />
        )}
        <div class="tool-actions">
          <Button icon="copy" keys="Ctrl+L" label="Copy a link" onClick={share}>
            Share
          </Button>
        </div>
      </header>
      <div class="playground">
        <div class="playground-inputs">
          <Box title="Expression" short value={state.expression} onChange={expression => set({ expression })} />
          <Box
            title={isPolicy ? 'object' : 'self: the object'}
            value={state.object}
            onChange={object => set({ object })}
            action={
              <Button
                tone="quiet"
                refused={resourceOf(state.schema) === undefined ? 'Choose a schema first.' : undefined}
                onClick={fill}
              >
                Sample
              </Button>
            }
          />
          <Box
            title={isPolicy ? 'oldObject' : 'oldSelf: the object before'}
            short
            value={state.oldObject}
            onChange={oldObject => set({ oldObject })}
          />
          {isPolicy && (
            <>
              <Box title="params" short value={state.params} onChange={params => set({ params })} />
              <Box title="request" short value={state.request} onChange={request => set({ request })} />
              <Box
                title="variables, as name: expression"
                short
                value={state.variables}
                onChange={variables => set({ variables })}
              />
            </>
          )}
        </div>
        <Result answer={answer} error={error} isBusy={isBusy} />
      </div>
    </div>
  )
}

/** Long lines are wrapped, so that nothing scrolls sideways. */
const wrapped = async () => (await import('@codemirror/view')).EditorView.lineWrapping

interface BoxProps {
  readonly title: string
  readonly value: string
  readonly short?: boolean
  readonly onChange: (text: string) => void
  readonly action?: preact.ComponentChildren
}

function Box({ title, value, short = false, onChange, action }: BoxProps) {
  return (
    <section class="playground-box">
      <header>
        <h2>{title}</h2>
        {action}
      </header>
      <div class={short ? 'editor-box short' : 'editor-box'}>
        <CodeEditor
          label={title}
          language={title === 'Expression' ? 'plain' : 'yaml'}
          value={value}
          onChange={onChange}
          extensions={wrapped}
        />
      </div>
    </section>
  )
}

/** `apps/v1 Deployment`. */
const nameOf = (resource: Resource): string => `${groupVersion(resource)} ${resource.kind}`

const resourceOf = (name: string): Resource | undefined => resources.value.find(each => nameOf(each) === name)

function suggestKinds(text: string): readonly Suggestion[] {
  const typed = text.trim().toLowerCase()
  return resources.value
    .filter(each => nameOf(each).toLowerCase().includes(typed))
    .map(each => ({ text: nameOf(each), label: each.kind, note: groupVersion(each) }))
}

/** The answer to the latest input, once it has been left alone for a moment. */
function useAnswer(state: PlaygroundState) {
  const [answer, setAnswer] = useState<ExplainedExpression | undefined>(undefined)
  const [error, setError] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const isFirst = useRef(true)
  useEffect(() => {
    const controller = new AbortController()
    const timer = setTimeout(
      () => {
        setBusy(true)
        const ask = async (): Promise<void> => {
          const found = await explain(bodyOf(state), controller.signal)
          setAnswer(found)
          setError(undefined)
        }
        ask()
          .catch((reason: unknown) => controller.signal.aborted || setError(messageOf(reason)))
          .finally(() => controller.signal.aborted || setBusy(false))
      },
      isFirst.current ? 0 : QUIET_MS,
    )
    isFirst.current = false
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [state])
  return { answer, error, isBusy }
}

/** Throws with the reason if one of the texts is no YAML. */
function bodyOf(state: PlaygroundState): object {
  const resource = resourceOf(state.schema)
  const { environment, expression, path } = state
  const isPolicy = environment === 'policy'
  const variables = isPolicy ? valueOf('variables', state.variables) : undefined
  return {
    environment,
    expression,
    ...(resource && { schema: { kind: { group: resource.group, version: resource.version, kind: resource.kind } } }),
    ...(!isPolicy && path.trim() !== '' && { path: path.trim() }),
    ...given('object', state.object),
    ...given('oldObject', state.oldObject),
    ...(isPolicy && { ...given('params', state.params), ...given('request', state.request) }),
    ...(typeof variables === 'object' && variables !== null && { variables: variablesIn(variables) }),
  }
}

/** A map of names to expressions, or a list as in the spec of a policy. */
const variablesIn = (value: object): readonly object[] =>
  Array.isArray(value)
    ? (value as readonly object[])
    : Object.entries(value).map(([name, each]) => ({ name, expression: String(each) }))

function given(name: string, text: string): object {
  const value = valueOf(name, text)
  return value === undefined ? {} : { [name]: value }
}

function valueOf(name: string, text: string): Value | undefined {
  if (text.trim() === '') return undefined
  const { value, error } = readYaml(text)
  if (error !== undefined) throw new Error(`${name} is not YAML, line ${error.line + 1}: ${error.message}`)
  return value
}
