# stiction for CPUs and NVIDIA cards: docker build -f docker/cuda.Dockerfile -t stiction-cuda .
#   docker run --rm --gpus all stiction-cuda                     what it has
#   docker run --rm --gpus all -v "$PWD:/work" stiction-cuda train Ant-v5 --device cuda
FROM nvidia/cuda:12.8.1-devel-ubuntu24.04 AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      g++ cmake ninja-build ccache git libeigen3-dev libtinyxml2-dev libtinyobjloader-dev libqhull-dev libpng-dev \
      nlohmann-json3-dev python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY . /stiction
# kernels of each kind of card, and PTX for later ones
RUN python3 -m venv /opt/stiction \
 && /opt/stiction/bin/pip install --no-cache-dir "/stiction[demo,export,train]" \
      -C cmake.define.STICTION_ISAS=all -C cmake.define.STICTION_CUDA=ON \
      -C "cmake.define.CMAKE_CUDA_ARCHITECTURES=80-real;90-real;100-real;120"

FROM nvidia/cuda:12.8.1-base-ubuntu24.04
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0 libpng16-16t64 libqhull-r8.0 libtinyxml2-10 python3 \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir /work && chown ubuntu /work
COPY --from=build /opt/stiction /opt/stiction
ENV PATH=/opt/stiction/bin:$PATH MUJOCO_GL=egl NVIDIA_DRIVER_CAPABILITIES=all
USER ubuntu
WORKDIR /work
ENTRYPOINT ["stiction"]
CMD ["doctor"]
