// The client certificate by which extension servers know this server, where no flags name one, and the authority that signs
// it. This authority signs nothing else, and this server itself does not accept its certificates.
import type { Store } from '../../storage/store.js'
import { validity } from './certificates.js'
import { shareAuthority } from './shared-authority.js'
import { type KeyPair, makeCertificate } from './x509.js'

export interface FrontProxy {
  /** The certificate of the authority, in PEM form. */
  readonly ca: string
  readonly client: KeyPair
}

/** The common name of the client certificate, as kubeadm calls it. */
export const FRONT_PROXY_CLIENT = 'front-proxy-client'
/** Outside the prefixes of all kinds. */
export const FRONT_PROXY_KEY = '/binnacle/front-proxy-authority'

/**
 * Both are created when they are first needed. The authority is kept in the store, as the ConfigMap is in which extension
 * servers find it; each replica has a client certificate of its own.
 */
export function createFrontProxy(store: Store): () => Promise<FrontProxy> {
  const share = shareAuthority(store, FRONT_PROXY_KEY)
  async function create(): Promise<FrontProxy> {
    const authority = await share(undefined, makeAuthority)
    const request = { subject: { name: FRONT_PROXY_CLIENT }, validity: validity(1), use: 'client' } as const
    return { ca: authority.cert, client: await makeCertificate(request, authority) }
  }

  let created: Promise<FrontProxy> | undefined
  return () => {
    created ??= create().catch((error: unknown) => {
      // The store did not answer; the next call tries again.
      created = undefined
      throw error
    })
    return created
  }
}

const makeAuthority = (): Promise<KeyPair> =>
  makeCertificate({ subject: { name: 'front-proxy-ca' }, validity: validity(10), use: 'authority' })
