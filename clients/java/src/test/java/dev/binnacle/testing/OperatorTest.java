package dev.binnacle.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@WithBinnacle
class OperatorTest {
  private static ConfigMap configMap(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().build();
  }

  /** A small operator: it writes the length of the key "text" into the key "length". */
  private static void runOperator(KubernetesClient client) {
    client.configMaps().inNamespace("default").inform(new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap map) {
        String text = map.getData() == null ? null : map.getData().get("text");
        if (text != null) {
          client.resource(map).edit(m -> new ConfigMapBuilder(m).addToData("length", "" + text.length()).build());
        }
      }

      @Override
      public void onUpdate(ConfigMap before, ConfigMap after) {}

      @Override
      public void onDelete(ConfigMap map, boolean unknown) {}
    });
  }

  @Test
  void operatorFillsInTheLength(KubernetesClient client) {
    runOperator(client);
    client.resource(new ConfigMapBuilder(configMap("a")).addToData("text", "four").build()).create();
    ConfigMap map = client.configMaps().inNamespace("default").withName("a")
        .waitUntilCondition(m -> m != null && m.getData().containsKey("length"), 10, TimeUnit.SECONDS);
    assertEquals("4", map.getData().get("length"));
  }

  @Test
  void eachTestBeginsAnew(KubernetesClient client) {
    assertNull(client.configMaps().inNamespace("default").withName("a").get());
  }

  @Test
  void faultsMeetTheRequestsThatMatch(KubernetesClient client, BinnacleServer server) {
    server.injectFault(Map.of("verb", "create", "resource", "configmaps", "status", 409, "times", 1));
    var conflict = assertThrows(KubernetesClientException.class, () -> client.resource(configMap("b")).create());
    assertEquals(409, conflict.getCode());
    client.resource(configMap("b")).create();
    assertEquals(1, server.faultReport().size());
  }

  @Test
  void theOfficialClientIsInjectedToo(ApiClient client) throws Exception {
    var namespaces = new CoreV1Api(client).listNamespace().execute().getItems();
    assertTrue(namespaces.stream().anyMatch(namespace -> "default".equals(namespace.getMetadata().getName())));
  }

  @Test
  void copiesAreIndependent(BinnacleServer server) {
    BinnacleServer copy = server.fork();
    Map<String, Object> body = Map.of("metadata", Map.of("name", "only-in-copy"));
    String path = "/api/v1/namespaces/default/configmaps";
    assertEquals(201, copy.request("POST", path, body).statusCode());
    assertEquals(404, server.request("GET", path + "/only-in-copy", null).statusCode());
  }

  @Test
  void theClockMoves(BinnacleServer server) throws Exception {
    server.advanceClock(Duration.ofHours(2));
    assertTrue(server.requests().toString().contains("/binnacle/testing/clock"));
  }

  @Test
  void aWrongFlagSaysWhy() {
    var refused = assertThrows(IllegalStateException.class, () -> BinnacleServer.start("--secure-prot=1"));
    assertTrue(refused.getMessage().contains("there is no flag --secure-prot"), refused.getMessage());
  }
}
