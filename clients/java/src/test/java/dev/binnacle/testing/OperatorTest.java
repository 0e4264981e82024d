package dev.binnacle.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@WithBinnacle
class OperatorTest {
  /** A small operator: it writes the length of the key "text" of each ConfigMap into its key "length". */
  private static void runOperator(KubernetesClient client) {
    client.configMaps().inNamespace("default").inform(new ResourceEventHandler<>() {
      @Override
      public void onAdd(ConfigMap map) {
        String text = map.getData() == null ? null : map.getData().get("text");
        if (text != null) {
          writeLength(client, map, text.length());
        }
      }

      @Override
      public void onUpdate(ConfigMap before, ConfigMap after) {}

      @Override
      public void onDelete(ConfigMap map, boolean unknown) {}
    });
  }

  private static void writeLength(KubernetesClient client, ConfigMap map, int length) {
    try {
      client.resource(map).edit(m -> new ConfigMapBuilder(m).addToData("length", "" + length).build());
    } catch (KubernetesClientException error) {
      if (error.getCode() != 409) {
        throw error;
      }
      writeLength(client, map, length);
    }
  }

  @Test
  void operatorRetriesConflicts(KubernetesClient client, BinnacleServer server) {
    server.injectFault(Map.of("verb", "patch", "resource", "configmaps", "status", 409, "times", 2));
    runOperator(client);
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("settings").withNamespace("default").endMetadata()
        .addToData("text", "four").build()).create();
    ConfigMap map = client.configMaps().inNamespace("default").withName("settings")
        .waitUntilCondition(m -> m != null && m.getData().containsKey("length"), 10, TimeUnit.SECONDS);
    assertEquals("4", map.getData().get("length"));
    assertEquals(2, server.faultReport().size());
  }
}
