// Every revision that the server still keeps: what each changed, the difference between any two, and a way back.
import { useMemo, useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { replaceYaml } from '../../api/objects.js'
import { DiffView } from '../../editor/code-editor.js'
import { ageOf, exactTime, now } from '../../state/clock.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { EmptyState, ErrorNotice, Loading } from '../../ui/notice.js'
import { encodeYaml, type Value, withValue } from '../../yaml/yaml-document.js'
import { type Revision, readRevision, useHistory } from './history.js'
import type { ObjectTabProps } from './object-view.js'

export function HistoryTab({ object, path, resource, isDeleted }: ObjectTabProps) {
  const { metadata } = object
  const { history, error } = useHistory(path, metadata.resourceVersion ?? '')
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const [against, setAgainst] = useState<string | undefined>(undefined)
  const [isRestoring, setRestoring] = useState(false)
  const revisions = history?.revisions ?? []
  const index = Math.max(
    0,
    revisions.findIndex(({ resourceVersion }) => resourceVersion === chosen),
  )
  const after = revisions[index]
  const before = revisions.find(({ resourceVersion }) => resourceVersion === against) ?? revisions[index + 1]
  const texts = useMemo(() => [textOf(before), textOf(after)] as const, [before, after])
  if (error !== undefined && history === undefined)
    return (
      <div class="page">
        <ErrorNotice error={error} />
      </div>
    )
  if (history === undefined) return <Loading />
  if (after === undefined) return <EmptyState title="The server keeps no revisions of this object." />
  const access = {
    group: resource.group,
    resource: resource.name,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  }
  const refused = isDeleted
    ? 'The object is gone.'
    : index === 0
      ? 'This is what the object is now.'
      : refusal({ ...access, verb: 'update' })
  const restore = (): void => {
    setRestoring(false)
    const write = async (): Promise<void> => {
      const value = await readRevision(resource, object, after.resourceVersion)
      // The write fails if the object changes before it, which is not what the user has looked at.
      const current = metadata.resourceVersion ?? ''
      await replaceYaml(path, encodeYaml(withValue(value, ['metadata', 'resourceVersion'], current)))
      setChosen(undefined)
      toast('done', `Restored revision ${after.resourceVersion}`)
    }
    write().catch(toastError)
  }
  return (
    <div class="history">
      <ol class="revisions" aria-label="Revisions, newest first">
        {revisions.map((revision, at) => (
          <li key={revision.resourceVersion}>
            <button
              type="button"
              aria-pressed={revision === after}
              onClick={() => {
                setChosen(revision.resourceVersion)
                setAgainst(undefined)
              }}
            >
              <span class="revision-head">
                <code>{revision.resourceVersion}</code>
                <span class="muted" title={revision.time && exactTime(revision.time)}>
                  {revision.time === '' ? '' : `${ageOf(revision.time, now.value)} ago`}
                </span>
              </span>
              <span class="revision-managers">{revision.managers.join(', ')}</span>
              <span class="revision-changes">
                {at === revisions.length - 1 && history.complete
                  ? 'created'
                  : revision.changes.map(({ field }) => field).join(', ')}
              </span>
            </button>
          </li>
        ))}
        {!history.complete && <li class="muted revision-end">Earlier revisions are no longer kept.</li>}
      </ol>
      <div class="revision-diff">
        <div class="editor-bar">
          <label class="inline">
            Compare with
            <select value={before?.resourceVersion ?? ''} onChange={event => setAgainst(event.currentTarget.value)}>
              {before === undefined && <option value="">nothing before</option>}
              {revisions
                .filter(revision => revision !== after)
                .map(({ resourceVersion }) => (
                  <option key={resourceVersion} value={resourceVersion}>
                    {resourceVersion}
                  </option>
                ))}
            </select>
          </label>
          <div class="browse-actions">
            <Button icon="restore" refused={refused} onClick={() => setRestoring(true)}>
              Restore {after.resourceVersion}
            </Button>
          </div>
        </div>
        <DiffView
          key={`${before?.resourceVersion}-${after.resourceVersion}`}
          before={texts[0]}
          after={texts[1]}
          labels={[
            before === undefined ? 'Nothing' : `Revision ${before.resourceVersion}`,
            `Revision ${after.resourceVersion}`,
          ]}
        />
      </div>
      {isRestoring && (
        <Dialog
          title={`Restore revision ${after.resourceVersion}?`}
          wide
          onClose={() => setRestoring(false)}
          actions={
            <>
              <Button onClick={() => setRestoring(false)}>Cancel</Button>
              <Button tone="primary" icon="restore" onClick={restore}>
                Restore
              </Button>
            </>
          }
        >
          <DiffView
            before={textOf(revisions[0])}
            after={textOf(after)}
            labels={['Now', `Revision ${after.resourceVersion}`]}
          />
        </Dialog>
      )}
    </div>
  )
}

/** Without what the server keeps itself. */
const strip = ({ object }: Revision): Value =>
  withValue(object as unknown as Value, ['metadata', 'managedFields'], undefined)

const textOf = (revision: Revision | undefined): string => (revision === undefined ? '' : encodeYaml(strip(revision)))
