// Saving: a dry run first, whose causes are shown at their lines; then what would change; then the write. A conflict is
// shown as what was, what you wrote, and what the server has now.
import { useState } from 'preact/hooks'
import { ApiError, messageOf, type StatusCause } from '../../api/client.js'
import { applyYaml, createYaml, getYaml, replaceYaml, type WriteOptions } from '../../api/objects.js'
import type { Resource } from '../../api/resource.js'
import { DiffView } from '../../editor/code-editor.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { decide, type Merged, merge3 } from '../../yaml/merge3.js'
import {
  encodeYaml,
  printPath,
  readYaml,
  type Value,
  withoutManagedFields,
  withValue,
} from '../../yaml/yaml-document.js'
import type { Draft } from '../draft.js'

export type WriteMode = 'replace' | 'apply' | 'create'

export interface SaveTarget {
  readonly resource: Resource
  /** Of the object; of the collection for a new one. */
  readonly path: string
  readonly draft: Draft
  readonly mode: WriteMode
  readonly manager: string
  readonly force: boolean
  readonly onSaved?: (text: string) => void
}

type Step =
  | { readonly kind: 'review'; readonly before: string; readonly after: string; readonly isUnchanged: boolean }
  | { readonly kind: 'merge'; readonly merged: Merged; readonly theirs: string }

export interface Save {
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly step: Step | undefined
  readonly target: SaveTarget
  readonly start: () => void
  readonly merge: () => void
  readonly confirm: () => void
  readonly close: () => void
  readonly takeMerged: (value: Value) => void
}

export function useSave(target: SaveTarget): Save {
  const { path, draft, mode, manager, force, onSaved } = target
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | undefined>(undefined)
  const [step, setStep] = useState<Step | undefined>(undefined)
  const write = (options: WriteOptions): Promise<string> => {
    const text = draft.text.value ?? ''
    const all = { fieldManager: manager, ...options }
    if (mode === 'create') return createYaml(path, text, all)
    return mode === 'apply' ? applyYaml(path, text, { ...all, force }) : replaceYaml(path, text, all)
  }
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (failure) {
      if (mode === 'replace' && failure instanceof ApiError && failure.code === 409) await startMerge()
      else {
        draft.causes.value = causesOf(failure)
        setError(messageOf(failure))
        setStep(undefined)
      }
    } finally {
      setBusy(false)
    }
  }
  const startMerge = async (): Promise<void> => {
    const text = withoutManagedFields(await getYaml(path))
    const theirs = readYaml(text).value
    const base = readYaml(draft.base.value ?? '').value
    const mine = draft.document.value.value
    if (theirs !== undefined && base !== undefined && mine !== undefined) {
      setStep({ kind: 'merge', merged: merge3(base, mine, theirs), theirs: text })
    }
  }
  return {
    isBusy,
    error,
    step,
    target,
    start: () =>
      void run(async () => {
        const after = withoutManagedFields(await write({ dryRun: true }))
        const before = mode === 'create' ? '' : withoutManagedFields(await getYaml(path))
        setStep({ kind: 'review', before, after, isUnchanged: sameContent(before, after) })
      }),
    merge: () => void startMerge().catch(toastError),
    confirm: () =>
      void run(async () => {
        const written = withoutManagedFields(await write({}))
        draft.reset(written)
        setStep(undefined)
        toast('done', mode === 'create' ? 'Created' : 'Saved')
        onSaved?.(written)
      }),
    close: () => setStep(undefined),
    takeMerged: value => {
      // The merged text starts from what the server has now.
      if (step?.kind === 'merge') draft.base.value = step.theirs
      draft.edit(encodeYaml(value))
      setStep(undefined)
    },
  }
}

const causesOf = (error: unknown): readonly StatusCause[] => (error instanceof ApiError ? error.causes : [])

/** Whether only the fields differ that every write changes. */
function sameContent(before: string, after: string): boolean {
  const strip = (text: string): string =>
    encodeYaml(
      withValue(
        withValue(readYaml(text).value, ['metadata', 'resourceVersion'], undefined),
        ['metadata', 'generation'],
        undefined,
      ),
    )
  return before !== '' && strip(before) === strip(after)
}

export function SaveDialogs({ save }: { readonly save: Save }) {
  if (save.step?.kind === 'review') return <ReviewDialog save={save} step={save.step} />
  return save.step?.kind === 'merge' ? <MergeDialog save={save} merged={save.step.merged} /> : null
}

function ReviewDialog({ save, step }: { readonly save: Save; readonly step: Step & { kind: 'review' } }) {
  const isNew = save.target.mode === 'create'
  return (
    <Dialog
      title={
        isNew
          ? 'The server would create this'
          : step.isUnchanged
            ? 'The server would change nothing'
            : 'The server would change this'
      }
      wide
      onClose={save.close}
      actions={
        <>
          <Button onClick={save.close}>Cancel</Button>
          <Button tone="primary" icon="check" busy={save.isBusy} onClick={save.confirm}>
            {isNew ? 'Create' : 'Save'}
          </Button>
        </>
      }
    >
      <DiffView before={step.before} after={step.after} labels={[isNew ? 'Nothing' : 'Now', 'After']} />
    </Dialog>
  )
}

function MergeDialog({ save, merged }: { readonly save: Save; readonly merged: Merged }) {
  const [mine, setMine] = useState<ReadonlySet<number>>(new Set())
  const choose = (index: number, isMine: boolean): void => {
    const next = new Set(mine)
    if (isMine) next.add(index)
    else next.delete(index)
    setMine(next)
  }
  return (
    <Dialog
      title="The object has changed meanwhile"
      wide
      onClose={save.close}
      actions={
        <>
          <Button onClick={save.close}>Cancel</Button>
          <Button tone="primary" onClick={() => save.takeMerged(decide(merged, mine))}>
            Continue with the merged text
          </Button>
        </>
      }
    >
      {merged.taken.length > 0 && (
        <p>
          Taken from the server: <code>{merged.taken.map(printPath).join(', ')}</code>
        </p>
      )}
      {merged.conflicts.length === 0 ? (
        <p>Your changes and those of the server touch different fields.</p>
      ) : (
        <table class="merge">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Was</th>
              <th scope="col">Yours</th>
              <th scope="col">Server’s</th>
            </tr>
          </thead>
          <tbody>
            {merged.conflicts.map(({ path, base, mine: yours, theirs }, index) => (
              <tr key={printPath(path)}>
                <th scope="row">
                  <code>{printPath(path)}</code>
                </th>
                <td>
                  <pre>{show(base)}</pre>
                </td>
                <td>
                  <label>
                    <input
                      type="radio"
                      name={`conflict-${index}`}
                      aria-label={`Yours for ${printPath(path)}`}
                      checked={mine.has(index)}
                      onChange={() => choose(index, true)}
                    />
                    <pre>{show(yours)}</pre>
                  </label>
                </td>
                <td>
                  <label>
                    <input
                      type="radio"
                      name={`conflict-${index}`}
                      aria-label={`The server's for ${printPath(path)}`}
                      checked={!mine.has(index)}
                      onChange={() => choose(index, false)}
                    />
                    <pre>{show(theirs)}</pre>
                  </label>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  )
}

const show = (value: Value | undefined): string => (value === undefined ? '(absent)' : encodeYaml(value).trimEnd())
