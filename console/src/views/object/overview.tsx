// What the object is and how it is: metadata, conditions over time, and why a deletion waits.
import { useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { mergePatch } from '../../api/objects.js'
import { browseLink } from '../../links.js'
import { ageOf, exactTime, now } from '../../state/clock.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { Link } from '../../ui/link.js'
import { Badge, Notice } from '../../ui/notice.js'
import { conditionLines, isGood } from './conditions.js'
import { whyDeletionWaits } from './deletion.js'
import { useHistory } from './history.js'
import type { ObjectTabProps } from './object-view.js'
import { summarize } from './summary.js'

export function Overview(props: ObjectTabProps) {
  const { object, resource, isDeleted } = props
  const { metadata } = object
  const labels = Object.entries(metadata.labels ?? {})
  const annotations = Object.entries(metadata.annotations ?? {})
  const namespace = metadata.namespace ?? ''
  return (
    <div class="overview">
      {!isDeleted && metadata.deletionTimestamp !== undefined && <DeletionNotice {...props} />}
      <div class="overview-columns">
        <div>
          <section class="card">
            <h2>Metadata</h2>
            <dl class="facts">
              <Fact name="Created">
                {metadata.creationTimestamp !== undefined && (
                  <span title={exactTime(metadata.creationTimestamp)}>
                    {ageOf(metadata.creationTimestamp, now.value)} ago
                  </span>
                )}
              </Fact>
              <Fact name="UID">
                <code>{metadata.uid}</code>
              </Fact>
              <Fact name="Resource version">
                <code>{metadata.resourceVersion}</code>
              </Fact>
              {metadata.generation !== undefined && (
                <Fact name="Generation">
                  <code>{metadata.generation}</code> <Observed object={object} />
                </Fact>
              )}
              {(metadata.finalizers ?? []).length > 0 && (
                <Fact name="Finalizers">
                  <ul>
                    {metadata.finalizers!.map(finalizer => (
                      <li key={finalizer}>
                        <code>{finalizer}</code>
                      </li>
                    ))}
                  </ul>
                </Fact>
              )}
            </dl>
          </section>
          <section class="card">
            <h2>Labels</h2>
            {labels.length === 0 ? (
              <p class="muted">None</p>
            ) : (
              <ul class="chips">
                {labels.map(([name, value]) => (
                  <li key={name}>
                    <Link
                      to={browseLink(resource, { namespace, labels: `${name}=${value}` })}
                      title="All with this label"
                    >
                      <span>{name}</span>
                      <span>{value}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section class="card">
            <h2>Annotations</h2>
            {annotations.length === 0 ? (
              <p class="muted">None</p>
            ) : (
              <dl class="annotations">
                {annotations.map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>
                      <code>{value.length > 400 ? `${value.slice(0, 400)} …` : value}</code>
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </section>
        </div>
        <div>
          <Conditions {...props} />
          <Summary object={object} />
        </div>
      </div>
    </div>
  )
}

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Whether the controller has seen the latest generation, where the kind says so. */
function Observed({ object }: Pick<ObjectTabProps, 'object'>) {
  const status = object['status'] as { observedGeneration?: unknown } | undefined
  const observed = status?.observedGeneration
  if (typeof observed !== 'number') return null
  return observed === object.metadata.generation ? (
    <Badge tone="good">observed</Badge>
  ) : (
    <Badge tone="warn">{`observed ${observed}`}</Badge>
  )
}

function DeletionNotice({ object, resource, path }: ObjectTabProps) {
  const [isAsking, setAsking] = useState(false)
  const { metadata } = object
  const access = {
    group: resource.group,
    resource: resource.name,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  }
  const reasons = whyDeletionWaits(object, now.value)
  const finalizers = metadata.finalizers ?? []
  const remove = (): void => {
    setAsking(false)
    mergePatch(path, { metadata: { finalizers: null, resourceVersion: metadata.resourceVersion } }).then(
      () => toast('done', 'Finalizers removed'),
      toastError,
    )
  }
  return (
    <Notice tone="warning">
      <p>Deletion was requested {ageOf(metadata.deletionTimestamp, now.value)} ago and waits:</p>
      <ul class="reasons">
        {reasons.map(reason => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      {finalizers.length > 0 && (
        <Button tone="danger" refused={refusal({ ...access, verb: 'patch' })} onClick={() => setAsking(true)}>
          Remove the finalizers
        </Button>
      )}
      {isAsking && (
        <Dialog
          title="Remove the finalizers?"
          onClose={() => setAsking(false)}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Cancel</Button>
              <Button tone="danger" onClick={remove}>
                Remove
              </Button>
            </>
          }
        >
          <p>
            The object is gone at once, and what <code>{finalizers.join(', ')}</code> would have cleaned up stays
            behind.
          </p>
        </Dialog>
      )}
    </Notice>
  )
}

const TONES = { true: 'good', false: 'bad', undefined: 'unknown' } as const

function Conditions({ object, path }: ObjectTabProps) {
  const { history } = useHistory(path, object.metadata.resourceVersion ?? '')
  const lines = conditionLines(
    object,
    (history?.revisions ?? []).map(revision => revision.object),
    now.value,
  )
  if (lines.length === 0) return null
  const start = Math.min(...lines.flatMap(({ segments }) => segments.map(({ from }) => from)))
  const span = Math.max(now.value - start, 1)
  return (
    <section class="card">
      <h2>Conditions</h2>
      <ul class="timeline">
        {lines.map(({ condition: line, segments }) => (
          <li key={line.type}>
            <div class="timeline-head">
              <strong>{line.type}</strong>
              <Badge tone={isGood(line) === undefined ? 'neutral' : isGood(line) ? 'good' : 'bad'}>{line.status}</Badge>
              <span class="muted">{line.reason}</span>
              <span class="muted timeline-age" title={line.lastTransitionTime && exactTime(line.lastTransitionTime)}>
                {line.lastTransitionTime !== undefined && `since ${ageOf(line.lastTransitionTime, now.value)}`}
              </span>
            </div>
            <div class="timeline-bar" aria-hidden="true">
              {segments.map(({ status, reason, from, to }) => (
                <span
                  key={from}
                  class={TONES[String(isGood({ type: line.type, status })) as keyof typeof TONES]}
                  style={{ left: `${((from - start) / span) * 100}%`, width: `${((to - from) / span) * 100}%` }}
                  title={`${status} ${reason} from ${new Date(from).toLocaleString()} to ${new Date(to).toLocaleString()}`}
                />
              ))}
            </div>
            {line.message !== '' && <p>{line.message}</p>}
          </li>
        ))}
      </ul>
      <p class="muted timeline-scale">
        <span>{new Date(start).toLocaleString()}</span>
        <span>now</span>
      </p>
    </section>
  )
}

/** What the other parts of the object hold. */
function Summary({ object }: { readonly object: ObjectTabProps['object'] }) {
  const parts = Object.entries(object).filter(([part]) => !LEFT_OUT.has(part))
  return (
    <>
      {parts.map(([part, value]) => {
        const entries = typeof value === 'object' ? summarize(value) : [{ path: part, text: JSON.stringify(value) }]
        if (entries.length === 0) return null
        const isSecret = object.kind === 'Secret' && part === 'data'
        return (
          <section class="card" key={part}>
            <h2>{part}</h2>
            <dl class="facts">
              {entries.map(({ path, text }) => (
                <Fact key={path} name={path}>
                  <code>{isSecret ? '••••••' : text}</code>
                </Fact>
              ))}
            </dl>
          </section>
        )
      })}
    </>
  )
}

const LEFT_OUT = new Set(['apiVersion', 'kind', 'metadata'])
