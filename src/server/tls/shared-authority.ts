// The certificate authority of several replicas on one store. It is kept in the store, as the key for tokens is, so that
// a kubeconfig of one replica works at each of them.
import { decodeJson, encodeJson } from '../../codec/json.js'
import { stringAt } from '../../meta/values/access.js'
import { isObject } from '../../meta/values/value.js'
import type { Entry, Store } from '../../storage/store.js'
import { checkInClear } from '../../storage/untransformable.js'
import { isGoodAuthority, type ShareAuthority } from './certificates.js'
import type { KeyPair } from './x509.js'

/** Outside the prefixes of all kinds. */
const STORE_KEY = '/binnacle/certificate-authority'

/** The first authority that is stored under the key is that of all replicas, until it expires. */
export function shareAuthority(store: Store, storeKey = STORE_KEY): ShareAuthority {
  return async (own, make) => {
    for (;;) {
      const entry = await store.get(storeKey)
      if (entry) checkInClear(storeKey, entry.value)
      const stored = entry && pairIn(entry)
      if (stored && isGoodAuthority(stored)) return stored
      const { cert, key } = own ?? (await make())
      const value = Buffer.from(encodeJson({ cert, key }))
      // If another replica was faster, the loop reads its authority.
      const written = await (entry ? store.update(storeKey, value, entry.revision) : store.create(storeKey, value))
      if (written.done) return { cert, key }
    }
  }
}

function pairIn({ value }: Entry): KeyPair | undefined {
  const { value: pair } = decodeJson(value)
  return isObject(pair) ? { cert: stringAt(pair, 'cert'), key: stringAt(pair, 'key') } : undefined
}
