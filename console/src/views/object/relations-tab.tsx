import { useEffect, useState } from 'preact/hooks'
import { objectLink } from '../../links.js'
import { Link } from '../../ui/link.js'
import { Badge, Loading } from '../../ui/notice.js'
import type { ObjectTabProps } from './object-view.js'
import { type RelatedObject, readDependents, readOwners } from './relations.js'

export function RelationsTab({ object }: ObjectTabProps) {
  const [owners, setOwners] = useState<readonly RelatedObject[] | undefined>(undefined)
  const [dependents, setDependents] = useState<readonly RelatedObject[] | undefined>(undefined)
  const [share, setShare] = useState(0)
  const { uid } = object.metadata
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const ifCurrent =
      <T,>(set: (value: T) => void) =>
      (value: T) =>
        void (signal.aborted || set(value))
    void readOwners(object, signal).then(ifCurrent(setOwners))
    void readDependents(object, signal, ifCurrent(setShare)).then(ifCurrent(setDependents))
    return () => controller.abort()
  }, [uid])
  return (
    <div class="page relations">
      <section>
        <h2>Owners</h2>
        {owners === undefined ? (
          <Loading />
        ) : (
          <Tree items={owners} empty="Nothing owns this object: it stays until it is deleted." />
        )}
      </section>
      <section>
        <h2>Dependents</h2>
        {dependents === undefined ? (
          <Loading label={`Looking through all kinds, ${Math.round(share * 100)} %`} />
        ) : (
          <Tree items={dependents} empty="It owns nothing." />
        )}
      </section>
    </div>
  )
}

function Tree({ items, empty }: { readonly items: readonly RelatedObject[]; readonly empty?: string }) {
  if (items.length === 0) return empty === undefined ? null : <p class="muted">{empty}</p>
  return (
    <ul class="tree">
      {items.map(item => (
        <li key={item.uid}>
          <span class="tree-item">
            <span class="muted">{item.kind}</span>
            {item.resource === undefined || item.isMissing ? (
              <span>{item.name}</span>
            ) : (
              <Link to={objectLink(item.resource, item.namespace, item.name)}>{item.name}</Link>
            )}
            {item.isController && <Badge tone="accent">controller</Badge>}
            {item.isMissing && <Badge tone="bad">not there</Badge>}
          </span>
          <Tree items={item.children} />
        </li>
      ))}
    </ul>
  )
}
