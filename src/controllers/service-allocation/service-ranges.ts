// The ranges of the addresses of Services, as the ServiceCIDR objects of the store say. They are read anew at each
// allocation, so that a range that was added or deleted counts at once, and parsed again only when an object has changed.
import { type AddressRange, isReadyServiceCidr, rangesOf } from '../../builtin/service-addresses.js'
import type { Kind } from '../../kinds/kind.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { Entry } from '../../storage/store.js'
import type { ApiContext } from '../../verbs/api-context.js'

export interface ServiceRanges {
  /** Those that new addresses may be of, in the order of the names of their objects. */
  ready(): Promise<readonly AddressRange[]>
  /** All, with those that are being deleted or are not ready. */
  all(): Promise<readonly AddressRange[]>
}

interface Known {
  readonly entry: Entry
  readonly ranges: readonly AddressRange[]
  readonly isReady: boolean
}

export function serviceRanges({ objectStore }: Pick<ApiContext, 'objectStore'>, kind: Kind): ServiceRanges {
  let known: readonly Known[] = []

  async function read(): Promise<readonly Known[]> {
    const { entries } = await objectStore(kind).cache.range(kind.keyPrefix)
    const before = new Map(known.map(each => [each.entry.revision, each]))
    known = entries.map(entry => {
      const same = before.get(entry.revision)
      return same?.entry.key === entry.key ? same : knownOf(entry)
    })
    return known
  }

  return {
    ready: async () => distinct(await read(), ({ isReady }) => isReady),
    all: async () => distinct(await read(), () => true),
  }
}

function knownOf(entry: Entry): Known {
  const object = decodeStored(entry)
  return { entry, ranges: rangesOf(object), isReady: isReadyServiceCidr(object) }
}

/** Several objects may have the same range. */
function distinct(known: readonly Known[], isMeant: (each: Known) => boolean): readonly AddressRange[] {
  const byText = new Map<string, AddressRange>()
  for (const each of known) if (isMeant(each)) for (const range of each.ranges) byText.set(range.text, range)
  return [...byText.values()]
}
