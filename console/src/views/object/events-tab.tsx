// The events about an object, live, newest first.
import { useEffect, useState } from 'preact/hooks'
import { listWatch } from '../../api/list-watch.js'
import type { ApiObject } from '../../api/resource.js'
import { ageOf, exactTime, now } from '../../state/clock.js'
import { Badge, EmptyState, ErrorNotice, Loading } from '../../ui/notice.js'
import type { ObjectTabProps } from './object-view.js'

interface KubernetesEvent extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly firstTimestamp?: string
  readonly lastTimestamp?: string
  readonly eventTime?: string
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
}

const timeOf = (event: KubernetesEvent): string =>
  event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''

export function EventsTab({ object }: ObjectTabProps) {
  const { uid = '', namespace = '' } = object.metadata
  const [events, setEvents] = useState<readonly KubernetesEvent[] | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const found = new Map<string, KubernetesEvent>()
    const publish = (): void => setEvents([...found.values()].toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)))
    const within = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`
    void listWatch<
      { metadata: { resourceVersion?: string; continue?: string }; items: KubernetesEvent[] },
      KubernetesEvent
    >(
      { path: `/api/v1${within}/events`, fieldSelector: `involvedObject.uid=${uid}` },
      {
        page: ({ items }, { first, last }) => {
          if (first) found.clear()
          for (const event of items) found.set(event.metadata.name, event)
          if (last) publish()
        },
        event: ({ type, object: event }) => {
          if (type === 'BOOKMARK') return
          if (type === 'DELETED') found.delete(event.metadata.name)
          else found.set(event.metadata.name, event)
          publish()
        },
        state: state => setError(state.phase === 'failed' ? state.error : undefined),
      },
      controller.signal,
    )
    return () => controller.abort()
  }, [uid, namespace])
  if (error !== undefined)
    return (
      <div class="page">
        <ErrorNotice error={error} />
      </div>
    )
  if (events === undefined) return <Loading />
  if (events.length === 0) return <EmptyState title="There are no events about this object." />
  return (
    <div class="page">
      <table class="event-table">
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">Reason</th>
            <th scope="col">Message</th>
            <th scope="col">From</th>
            <th scope="col" class="end">
              Count
            </th>
            <th scope="col" class="end">
              Last
            </th>
          </tr>
        </thead>
        <tbody>
          {events.map(event => (
            <tr key={event.metadata.name}>
              <td>
                <Badge tone={event.type === 'Warning' ? 'warn' : 'neutral'}>{event.type}</Badge>
              </td>
              <td>{event.reason}</td>
              <td class="wide-cell">{event.message}</td>
              <td class="muted">{event.source?.component || event.reportingComponent}</td>
              <td class="end">{event.series?.count ?? event.count ?? 1}</td>
              <td class="end" title={exactTime(timeOf(event))}>
                {ageOf(timeOf(event), now.value)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
