// The class that is marked as default by an annotation, for claims without a StorageClass and ingresses without an
// IngressClass.

import { compareTexts } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { mapAt, stringAt } from '../../meta/values/access.js'

/** The newest of the classes with the value `true` in one of the annotations; of equally old ones the first by name. */
export function defaultClassOf(classes: readonly ApiObject[], annotations: readonly string[]): string | undefined {
  const isDefault = ({ metadata }: ApiObject): boolean =>
    annotations.some(key => stringAt(mapAt(metadata, 'annotations'), key) === 'true')
  const [newest] = classes.filter(isDefault).toSorted((a, b) => {
    const [x, y] = [metaOf(a), metaOf(b)]
    return (
      compareTexts(y.creationTimestamp ?? '', x.creationTimestamp ?? '') || compareTexts(x.name ?? '', y.name ?? '')
    )
  })
  return newest && metaOf(newest).name
}
