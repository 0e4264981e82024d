// Publishes the certificate authority of this server as the ConfigMap `kube-root-ca.crt` of every namespace, where the
// token volumes of pods expect it.
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues } from '../../meta/values/value.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startInEachNamespace } from './in-each-namespace.js'

const NAME = 'kube-root-ca.crt'
const DESCRIPTION = 'kubernetes.io/description'
const TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

export interface RootCaKinds {
  readonly namespaces: Kind
  readonly configMaps: Kind
}

/** `ca` is in PEM form. */
export function startRootCaPublisher(
  context: ApiContext,
  { namespaces, configMaps }: RootCaKinds,
  ca: string,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'root-ca-cert-publisher')
  const data = { 'ca.crt': ca }
  return startInEachNamespace(context, {
    queue: 'root_ca_cert_publisher',
    objects,
    namespaces,
    kind: configMaps,
    name: NAME,
    async ensure(namespace) {
      const metadata = { name: NAME, namespace, annotations: { [DESCRIPTION]: TEXT } }
      await objects.create(configMaps, { metadata, data: { ...data } })
      await objects.change(configMaps, namespace, NAME, old => {
        const { annotations = {} } = metaOf(old)
        if (equalValues(old['data'], data) && annotations[DESCRIPTION]) return undefined
        const described = { ...old.metadata, annotations: { ...annotations, [DESCRIPTION]: TEXT } }
        return { ...old, metadata: described, data: { ...data } }
      })
    },
    env,
  })
}
