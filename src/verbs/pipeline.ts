// What every write goes through.
export * from './pipeline/decode-body.js'
