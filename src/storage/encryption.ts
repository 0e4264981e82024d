// Encryption at rest: the providers of kube-apiserver's EncryptionConfiguration, and a store that uses them.
export { aesCbc, aesGcm } from './encryption/aes.js'
export { createEncryptedStore, type EncryptedStore, type KeyTransformer } from './encryption/encrypted-store.js'
export { createKms, type Kms } from './encryption/kms.js'
export { createEncryptionMetrics, type EncryptionMetrics } from './encryption/metrics.js'
export { secretbox } from './encryption/secretbox.js'
export {
  IDENTITY,
  type PrefixTransformer,
  prefixTransformers,
  type Transformer,
} from './encryption/transformer.js'
