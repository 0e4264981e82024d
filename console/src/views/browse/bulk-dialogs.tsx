// Deleting and labelling the objects that are selected.
import { useState } from 'preact/hooks'
import { ApiError, messageOf } from '../../api/client.js'
import { deleteObject, mergePatch } from '../../api/objects.js'
import { objectPath, type Resource } from '../../api/resource.js'
import { toast } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Notice } from '../../ui/notice.js'
import { parseLabelChanges } from './label-changes.js'

export interface Chosen {
  readonly namespace: string
  readonly name: string
  readonly uid: string | undefined
}

const CONCURRENT = 8

/** Runs the work for each object, a few at a time; answers the errors. */
async function forEach(
  objects: readonly Chosen[],
  work: (object: Chosen) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<readonly string[]> {
  const failed: string[] = []
  const queue = objects.values()
  let done = 0
  const run = async (): Promise<void> => {
    for (const object of queue) {
      await work(object).catch((error: unknown) => {
        failed.push(`${object.name}: ${messageOf(error)}`)
      })
      progress(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, run))
  return failed
}

function report(done: string, count: number, failed: readonly string[]): void {
  if (failed.length === 0) toast('done', done)
  else toast('error', `${failed.length} of ${count} failed`, failed.slice(0, 5))
}

interface BulkProps {
  readonly resource: Resource
  readonly objects: readonly Chosen[]
  readonly onClose: () => void
  readonly onDone?: () => void
}

const POLICIES = [
  ['Background', 'Dependents are deleted afterwards'],
  ['Foreground', 'Dependents are deleted first, then the object'],
  ['Orphan', 'Dependents stay, without an owner'],
] as const

export function DeleteDialog({ resource, objects, onClose, onDone }: BulkProps) {
  const [policy, setPolicy] = useState<(typeof POLICIES)[number][0]>('Background')
  const [done, setDone] = useState<number | undefined>(undefined)
  const count = objects.length
  const what = count === 1 ? `${resource.kind} ${objects[0]!.name}` : `${count} ${resource.name}`
  const run = async (): Promise<void> => {
    setDone(0)
    const failed = await forEach(
      objects,
      ({ namespace, name, uid }) =>
        deleteObject(objectPath(resource, namespace, name), { propagationPolicy: policy, ...(uid && { uid }) }).catch(
          (error: unknown) => {
            // It is gone already, which is what was wanted.
            if (!(error instanceof ApiError && error.code === 404)) throw error
          },
        ),
      setDone,
    )
    report(count === 1 ? `Deleted ${what}` : `Deleted ${what}`, count, failed)
    onClose()
    onDone?.()
  }
  return (
    <Dialog
      title={`Delete ${what}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" icon="trash" busy={done !== undefined} onClick={() => void run()}>
            {done === undefined ? 'Delete' : `${done} of ${count}`}
          </Button>
        </>
      }
    >
      <NameList objects={objects} />
      <fieldset class="choices">
        <legend>Objects that these own</legend>
        {POLICIES.map(([value, text]) => (
          <label key={value}>
            <input type="radio" name="policy" checked={policy === value} onChange={() => setPolicy(value)} />
            <span>
              {value} <small>{text}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </Dialog>
  )
}

export function LabelDialog({ resource, objects, onClose }: BulkProps) {
  const [text, setText] = useState('')
  const [done, setDone] = useState<number | undefined>(undefined)
  const { changes, problem } = parseLabelChanges(text)
  const isEmpty = Object.keys(changes).length === 0
  const run = async (): Promise<void> => {
    setDone(0)
    const patch = { metadata: { labels: changes } }
    const failed = await forEach(
      objects,
      ({ namespace, name }) => mergePatch(objectPath(resource, namespace, name), patch),
      setDone,
    )
    report(`Labelled ${objects.length} ${resource.name}`, objects.length, failed)
    onClose()
  }
  return (
    <Dialog
      title={`Label ${objects.length} ${objects.length === 1 ? resource.singular || resource.kind : resource.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone="primary"
            busy={done !== undefined}
            refused={problem ?? (isEmpty ? 'Write a label first.' : undefined)}
            onClick={() => void run()}
          >
            {done === undefined ? 'Label' : `${done} of ${objects.length}`}
          </Button>
        </>
      }
    >
      <label class="stacked">
        <span>
          <code>name=value</code> sets a label, <code>name-</code> removes it
        </span>
        <input
          type="text"
          class="mono"
          spellcheck={false}
          placeholder="team=red tier-"
          value={text}
          onInput={event => setText(event.currentTarget.value)}
        />
      </label>
      {problem !== undefined && <Notice tone="warning">{problem}</Notice>}
      <NameList objects={objects} />
    </Dialog>
  )
}

const MAX_NAMES = 12

function NameList({ objects }: { readonly objects: readonly Chosen[] }) {
  return (
    <ul class="name-list mono">
      {objects.slice(0, MAX_NAMES).map(({ namespace, name }) => (
        <li key={`${namespace}/${name}`}>
          {namespace !== '' && <span class="muted">{namespace}/</span>}
          {name}
        </li>
      ))}
      {objects.length > MAX_NAMES && <li class="muted">and {objects.length - MAX_NAMES} more</li>}
    </ul>
  )
}
