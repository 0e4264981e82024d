// The write pipeline: what every create, update and delete goes through before the store. It needs no store.
export * from './pipeline/decode-body.js'
export * from './pipeline/pipeline-env.js'
export * from './pipeline/prepare-create.js'
export * from './pipeline/prepare-delete.js'
export * from './pipeline/prepare-update.js'
export * from './pipeline/prepared.js'
